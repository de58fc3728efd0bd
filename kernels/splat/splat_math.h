/* The numbers of the picture, the same in every twin and in the reference. */
#ifndef SEEP_KERNELS_SPLAT_MATH_H
#define SEEP_KERNELS_SPLAT_MATH_H

#define SEEP_SPLAT_NEAR              0.2f
#define SEEP_SPLAT_LOW_PASS          0.3f
#define SEEP_SPLAT_FOV_LIMIT         1.3f
#define SEEP_SPLAT_SIGMAS            3.0f
#define SEEP_SPLAT_MAX_ALPHA         0.99f
#define SEEP_SPLAT_MIN_ALPHA         (1.0f / 255.0f)
#define SEEP_SPLAT_MIN_TRANSMITTANCE 1e-4f

#define SEEP_LN2 0.693147180559945309
/* sqrt(log2(e) / 2): exp(−x²/2) = 2^−(SEEP_ROOT x)² */
#define SEEP_ROOT 0.849321800288019243

/* Real spherical harmonics up to degree 3 in the signs and order of Kerbl et al. (those of the
 * physics convention with Condon and Shortley's phase): sqrt(1/4pi), sqrt(3/4pi), … */
#define SEEP_SH_0   0.28209479177387814
#define SEEP_SH_1   0.48860251190291992 /* −y, z, −x */
#define SEEP_SH_2_0 1.0925484305920792  /* xy; −yz; −xz */
#define SEEP_SH_2_1 0.31539156525252005 /* 2zz − xx − yy */
#define SEEP_SH_2_2 0.54627421529603959 /* xx − yy */
#define SEEP_SH_3_0 0.59004358992664352 /* −y(3xx − yy); −x(xx − 3yy) */
#define SEEP_SH_3_1 2.8906114426405538  /* xyz */
#define SEEP_SH_3_2 0.45704579946446572 /* −y(4zz − xx − yy); −x(4zz − xx − yy) */
#define SEEP_SH_3_3 0.37317633259011546 /* z(2zz − 3xx − 3yy) */
#define SEEP_SH_3_4 1.4453057213202769  /* z(xx − yy) */

#endif

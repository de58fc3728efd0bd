#include "kernels/lab/scenarios/splat_cameras.h"

#include "kernels/compute/chance.h"
#include "kernels/formats/image.h"

#include <stdlib.h>
#include <string.h>

struct seep_cameras {
    enum seep_camera_policy policy;
    const struct seep_views *views;
    struct seep_stream *stream;
    struct seep_chance chance;
    struct seep_camera **owned; /* by the scene: [views->n], NULL where it keeps no list */
    struct seep_camera **stack; /* [views->n]: what steps pop from */
    uint8_t **decoded;          /* [views->n] on the host; NULL: photos are read at each use */
    size_t n_stack;
};

/* ---- photos ---------------------------------------------------------------------------------- */

static size_t n_values(const struct seep_view *view)
{
    return (size_t)view->camera.width * (size_t)view->camera.height * 3;
}

/* One value of a photo of 1, 3 or 4 channels, on black where it is transparent. */
static unsigned value_at(const struct seep_image *photo, size_t pixel, unsigned channel)
{
    const uint8_t *p = photo->pixels + pixel * photo->channels;

    if (photo->channels < 3)
        return p[0];
    return photo->channels == 4 ? (p[channel] * p[3] + 127u) / 255u : p[channel];
}

/* Mean over the pixels of the photo that a smaller pixel covers. */
static void shrink(const struct seep_image *photo, uint32_t width, uint32_t height, uint8_t *bytes)
{
    for (uint32_t y = 0; y < height; y++) {
        uint32_t y0 = (uint32_t)((uint64_t)y * photo->height / height);
        uint32_t y1 = (uint32_t)((uint64_t)(y + 1) * photo->height / height);
        for (uint32_t x = 0; x < width; x++, bytes += 3) {
            uint32_t x0 = (uint32_t)((uint64_t)x * photo->width / width);
            uint32_t x1 = (uint32_t)((uint64_t)(x + 1) * photo->width / width);
            uint64_t sum[3] = {0}, n = 0;
            for (uint32_t v = y0; v < y1 || v == y0; v++) {
                for (uint32_t u = x0; u < x1 || u == x0; u++, n++) {
                    for (unsigned k = 0; k < 3; k++)
                        sum[k] += value_at(photo, (size_t)v * photo->width + u, k);
                }
            }
            for (unsigned k = 0; k < 3; k++)
                bytes[k] = (uint8_t)((sum[k] + n / 2) / n);
        }
    }
}

/* Has a frame of its own: where pictures stay on the host, reports name this line as the one that
 * keeps them. */
__attribute__((noinline)) int seep_photo_read(const struct seep_view *view, uint8_t **bytes,
                                              struct seep_error *err)
{
    struct seep_image *photo = NULL;
    int rc = seep_image_read(view->photo, &photo, err);

    *bytes = NULL;
    if (rc)
        return rc;
    *bytes = malloc(n_values(view));
    if (*bytes)
        shrink(photo, (uint32_t)view->camera.width, (uint32_t)view->camera.height, *bytes);
    else
        rc = seep_error_set(err, SEEP_ENOMEM, view->photo, 0, "no memory");
    seep_image_free(photo);
    return rc;
}

static void to_floats(const uint8_t *bytes, size_t n, float *floats)
{
    for (size_t i = 0; i < n; i++)
        floats[i] = (float)bytes[i] * (1 / 255.0f);
}

int seep_photo_upload(struct seep_stream *stream, const uint8_t *bytes, size_t n, float *device)
{
    if (seep_stream_device(stream) == SEEP_DEVICE_CPU) {
        to_floats(bytes, n, device);
        return 0;
    }
    float *floats = malloc(n * sizeof *floats);
    if (!floats)
        return -SEEP_ENOMEM;
    to_floats(bytes, n, floats);
    int rc = seep_stream_upload(stream, device, floats, n * sizeof *floats);
    free(floats);
    return rc;
}

/* ---- cameras --------------------------------------------------------------------------------- */

/* Bytes of the camera's photo. *read: to be free()d by the caller, or NULL where they are kept. */
static int find_bytes(const struct seep_cameras *c, const struct seep_camera *camera,
                      const uint8_t **bytes, uint8_t **read, struct seep_error *err)
{
    uint8_t **kept = c->decoded ? &c->decoded[camera->view - c->views->list] : NULL;
    int rc = 0;

    *read = NULL;
    *bytes = camera->bytes;
    if (!*bytes && kept && *kept)
        *bytes = *kept;
    if (*bytes)
        return 0;
    rc = seep_photo_read(camera->view, kept ? kept : read, err);
    *bytes = kept ? *kept : *read;
    return rc;
}

/* The subject of the scenario: this line allocates the pictures. */
static __attribute__((noinline)) int load_camera(const struct seep_cameras *c,
                                                 struct seep_camera *camera, struct seep_error *err)
{
    size_t n = n_values(camera->view);
    const uint8_t *bytes = NULL;
    uint8_t *read = NULL;
    void *device = NULL;

    if (camera->original)
        return 0;
    int rc = camera->floats ? 0 : find_bytes(c, camera, &bytes, &read, err);
    if (!rc)
        rc = seep_stream_alloc(c->stream, n * sizeof(float), &device);
    if (!rc)
        rc = camera->floats
                 ? seep_stream_upload(c->stream, device, camera->floats, n * sizeof(float))
                 : seep_photo_upload(c->stream, bytes, n, device);
    if (rc)
        seep_stream_free(c->stream, device);
    else
        camera->original = device;
    free(read);
    return rc ? seep_error_set(err, -rc, camera->view->photo, 0, "%s", seep_error_name(rc)) : 0;
}

/* Has a frame of its own, as seep_photo_read(). */
static __attribute__((noinline)) int keep_as_floats(struct seep_camera *camera,
                                                    struct seep_error *err)
{
    size_t n = n_values(camera->view);
    uint8_t *bytes;
    int rc = seep_photo_read(camera->view, &bytes, err);

    if (rc)
        return rc;
    camera->floats = malloc(n * sizeof *camera->floats);
    if (camera->floats)
        to_floats(bytes, n, camera->floats);
    free(bytes);
    return camera->floats ? 0
                          : seep_error_set(err, SEEP_ENOMEM, camera->view->photo, 0, "no memory");
}

static void unload_camera(const struct seep_cameras *c, struct seep_camera *camera)
{
    seep_stream_free(c->stream, camera->original);
    camera->original = NULL;
}

static void destroy_camera(const struct seep_cameras *c, struct seep_camera *camera)
{
    if (!camera)
        return;
    unload_camera(c, camera);
    free(camera->bytes);
    free(camera->floats);
    free(camera);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Cameras of all views, into `list`: cameraList_from_camInfos. */
static int make_list(const struct seep_cameras *c, struct seep_camera **list,
                     struct seep_error *err)
{
    for (size_t i = 0; i < c->views->n; i++) {
        list[i] = calloc(1, sizeof *list[i]);
        if (!list[i])
            return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
        list[i]->view = &c->views->list[i];
        int rc = 0;
        if (c->policy == SEEP_CAMERAS_EAGER)
            rc = load_camera(c, list[i], err);
        else if (c->policy == SEEP_CAMERAS_ON_HOST)
            rc = seep_photo_read(list[i]->view, &list[i]->bytes, err);
        else if (c->policy == SEEP_CAMERAS_FLOATS_ON_HOST)
            rc = keep_as_floats(list[i], err);
        if (rc)
            return rc;
    }
    return 0;
}

int seep_cameras_create(enum seep_camera_policy policy, const struct seep_views *views,
                        uint64_t seed, struct seep_stream *stream, struct seep_cameras **out,
                        struct seep_error *err)
{
    struct seep_cameras *c = calloc(1, sizeof *c);
    int rc = 0;

    *out = NULL;
    if (!c)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    *c =
        (struct seep_cameras){.policy = policy, .views = views, .stream = stream, .chance = {seed}};
    bool owns = policy != SEEP_CAMERAS_EVICTING && policy != SEEP_CAMERAS_DECODED;
    bool decodes = policy == SEEP_CAMERAS_DECODED;
    c->stack = calloc(views->n + 1, sizeof(struct seep_camera *));
    c->owned = owns ? calloc(views->n + 1, sizeof(struct seep_camera *)) : NULL;
    c->decoded = decodes ? calloc(views->n + 1, sizeof(uint8_t *)) : NULL;
    if (!c->stack || (owns && !c->owned) || (decodes && !c->decoded))
        rc = seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    if (!rc && c->owned)
        rc = make_list(c, c->owned, err);
    if (rc)
        seep_cameras_destroy(c);
    else
        *out = c;
    return rc;
}

void seep_cameras_destroy(struct seep_cameras *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->views->n; i++) {
        if (c->owned)
            destroy_camera(c, c->owned[i]);
        else if (c->stack)
            destroy_camera(c, c->stack[i]);
        if (c->decoded)
            free(c->decoded[i]);
    }
    free(c->decoded);
    free(c->owned);
    free(c->stack);
    free(c);
}

int seep_cameras_pop(struct seep_cameras *c, struct seep_camera **out, struct seep_error *err)
{
    int rc = 0;

    *out = NULL;
    if (!c->n_stack) {
        if (c->owned)
            memcpy(c->stack, c->owned, c->views->n * sizeof(struct seep_camera *));
        else
            rc = make_list(c, c->stack, err);
        if (rc)
            return rc;
        c->n_stack = c->views->n;
    }
    size_t i = seep_chance_below(&c->chance, c->n_stack);
    struct seep_camera *camera = c->stack[i];
    c->stack[i] = c->stack[--c->n_stack];
    c->stack[c->n_stack] = NULL;
    rc = load_camera(c, camera, err);
    if (rc)
        seep_cameras_give_back(c, camera);
    else
        *out = camera;
    return rc;
}

void seep_cameras_give_back(struct seep_cameras *c, struct seep_camera *camera)
{
    if (!c->owned)
        destroy_camera(c, camera);
    else if (c->policy == SEEP_CAMERAS_ON_HOST || c->policy == SEEP_CAMERAS_FLOATS_ON_HOST)
        unload_camera(c, camera);
}

bool seep_cameras_begin_epoch(const struct seep_cameras *c)
{
    return c->n_stack == 0;
}

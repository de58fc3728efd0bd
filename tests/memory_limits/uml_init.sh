#!/bin/bash
# The first process of User-Mode Linux, which has the machine's files as its own: runs the suite with cgroups of version
# 2, and leaves its status in build/check-limits.status. TREE, SEEP and PYTHON are on the kernel's command line.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run HOME=/root
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup
cd "$TREE" && "$PYTHON" -m unittest -v tests.memory_limits.check_limits
echo $? >build/check-limits.status
sync
echo o >/proc/sysrq-trigger
sleep 60

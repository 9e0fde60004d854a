"""GPUs for which programs are compiled where there is none: what XLA has to know of them.

The numbers are those that XLA's own files of targets give for these devices.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuTarget:
    """One kind of GPU. Sizes are in bytes."""

    description: str
    compute_capability: str
    cores: int
    fpus_per_core: int
    clock_ghz: float
    memory: int
    memory_bandwidth: int
    """Bytes a second."""
    l2_cache: int
    shared_memory_per_core: int
    shared_memory_per_block: int
    """What a block may have if it asks for it."""

    @property
    def text(self) -> str:
        """The target as XLA reads it: a GpuTargetConfigProto in protobuf's text format."""
        major, minor = self.compute_capability.split(".")
        # From 9.0 on there are instructions that only this generation has.
        features = "ACCELERATED_FEATURES" if int(major) >= 9 else "NONE"
        return f"""\
gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {self.shared_memory_per_core}
  shared_memory_per_block_optin: {self.shared_memory_per_block}
  threads_per_core_limit: 2048
  core_count: {self.cores}
  fpus_per_core: {self.fpus_per_core}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  memory_bandwidth: {self.memory_bandwidth}
  device_memory_size: {self.memory}
  l2_cache_size: {self.l2_cache}
  clock_rate_ghz: {self.clock_ghz}
  cuda_compute_capability {{ major: {major} minor: {minor} feature_extension: {features} }}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 }}
device_description_str: "{self.description}"
"""


GPU_TARGETS: dict[str, GpuTarget] = {
    "a100": GpuTarget(
        description="NVIDIA A100-SXM4-80GB",
        compute_capability="8.0",
        cores=108,
        fpus_per_core=64,
        clock_ghz=1.41,
        memory=85100068864,
        memory_bandwidth=2039040000000,
        l2_cache=41943040,
        shared_memory_per_core=167936,
        shared_memory_per_block=166912,
    ),
    "h100": GpuTarget(
        description="NVIDIA H100 80GB HBM3",
        compute_capability="9.0",
        cores=132,
        fpus_per_core=128,
        clock_ghz=1.98,
        memory=84942979072,
        memory_bandwidth=3352320000000,
        l2_cache=52428800,
        shared_memory_per_core=233472,
        shared_memory_per_block=232448,
    ),
    "h200": GpuTarget(
        description="NVIDIA H200 141GB HBM3e",
        compute_capability="9.0",
        cores=132,
        fpus_per_core=128,
        clock_ghz=1.98,
        memory=151397597184,
        memory_bandwidth=4800000000000,
        l2_cache=52428800,
        shared_memory_per_core=233472,
        shared_memory_per_block=232448,
    ),
    "b200": GpuTarget(
        description="NVIDIA B200",
        compute_capability="10.0",
        cores=148,
        fpus_per_core=128,
        clock_ghz=1.965,
        memory=191514411008,
        memory_bandwidth=7672320000000,
        l2_cache=132644864,
        shared_memory_per_core=233472,
        shared_memory_per_block=232448,
    ),
}

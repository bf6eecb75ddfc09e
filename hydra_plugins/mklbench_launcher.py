"""The launcher of ``mklbench run -m``: all jobs of a sweep are handed to one runner, together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, open_dict


class TogetherLauncher(Launcher):
    """Composes the jobs of a batch and calls `take` of the task function with all of them.

    That returns a number for each job, which is what a sweeper may optimise.
    """

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Keep what Hydra hands over."""
        self._loader, self._task, self._config = hydra_context.config_loader, task_function, config

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Have the jobs of one batch run."""
        configs = []
        for number, overrides in enumerate(job_overrides, initial_job_idx):
            config = self._loader.load_sweep_config(self._config, list(overrides))
            with open_dict(config):
                config.hydra.job.id = config.hydra.job.num = number
            configs.append(config)
        task: Any = self._task
        returns = []
        for config, overrides, value in zip(
            configs, job_overrides, task.take(configs), strict=True
        ):
            done = JobReturn(overrides=overrides, cfg=config, status=JobStatus.COMPLETED)
            done.return_value = value
            returns.append(done)
        return returns


ConfigStore.instance().store(
    group="hydra/launcher",
    name="together",
    node={"_target_": f"{__name__}.TogetherLauncher"},
    provider="mklbench",
)

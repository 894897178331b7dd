"""What a kernel discriminant keeps in a model file: its basis, and of landmarks the moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sortal.errors import FormatError, OptionError, SortalError
from sortal.estimators.kernel_reading import ReadableKernel
from sortal.learners.kernel import class_counts
from sortal.learners.kernel_basis import KernelBasis, KernelSummary, basis_of
from sortal.learners.kernel_options import KernelOptions
from sortal.learners.kernel_space import LandmarkSpace
from sortal.learners.options import read_class_weight
from sortal.models.kernel import KernelModel
from sortal.models.layout import Layout
from sortal.models.layout_arrays import Options, Record, Summary
from sortal.summaries.discriminant import DiscriminantSummary

if TYPE_CHECKING:
    import os


class KeptKernel(ReadableKernel):
    """The state of a kernel discriminant, out and in."""

    _kept: ClassVar[Layout] = Layout(
        _counts=Summary(DiscriminantSummary),
        _model=Record(KernelModel),
        _fitted=Options(KernelOptions),
    )

    @property
    def _counts(self) -> DiscriminantSummary:
        """Counts of the rows, and of landmarks the moments in their space."""
        return self._summary.counts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator into a model file, which `sortal.load` reads.

        The file holds data only, as docs/model_file.md has it. A kernel that is a function cannot
        be kept in one, and is refused. A file of that name is replaced when the new one is
        complete, and not before.

        Parameters
        ----------
        path : str or path
            Where to write; by custom it ends in ".sortal".
        """
        if self._fitted_model().kernel.name == "callable" or callable(self.kernel):
            raise OptionError(
                "This kernel is a function, and a model file holds data only, no code: use a named "
                "kernel, give the kernel matrix with kernel='precomputed', or pickle the estimator."
            )
        super().save(path)

    def _restore(self, kept: dict[str, Any]) -> None:
        model, counts, options = kept["_model"], kept.pop("_counts"), kept["_fitted"]
        if (model.solver == "landmarks") != bool(counts.moments.numbers):
            raise FormatError("The summary does not fit the basis: damaged?")
        space = None
        if model.solver == "landmarks":
            space = LandmarkSpace(model.kernel, model.inputs, model.basis)
        try:
            weight, _ = class_counts(counts, model.classes)
            factor = read_class_weight(options.class_weight, model.classes, weight)
        except (SortalError, LookupError, ValueError) as error:
            raise FormatError(f"The summary does not fit the classes ({error}).") from None
        self._plan = basis_of(model, factor, space)
        self._summary = KernelSummary(self._plan, counts)
        super()._restore(kept)

    def _plan_kept(self) -> KernelBasis:
        return self._plan

    def _agrees(self, summary: KernelSummary) -> bool:
        space = summary.basis.space
        names = () if space is None else space.names
        return summary.counts.moments.numbers == names and super()._agrees(summary)

"""The kernel discriminant of a summary: weights, the ridge, directions, Gaussians along them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from sortal.base.learner import FitReport
from sortal.data.columns import CategoryColumn, ColumnSchema, Schema
from sortal.decision.options import (
    categorical_features,
    class_weight,
    costs,
    n_jobs,
    non_negative,
    one_of,
    option,
    priors,
    progress,
    random_state,
    read_class_weight,
    read_priors,
    whole,
)
from sortal.discriminants.leave_one_out import read_fitted
from sortal.discriminants.statistics import (
    multiply,
    multiply_rows,
    pooled_divisor,
    read_statistics,
    refuse_weightless,
    report_missing,
    sentence,
)
from sortal.engines import merge_all, n_threads
from sortal.errors import (
    ParameterError,
    PerfectSeparationWarning,
    agreed,
    brief,
    counted,
    warn,
)
from sortal.kernels.first_pass import (
    Labeled,
    StagedProgress,
    each,
    refuse_beyond,
    rows_at,
    schema_of,
    select_rows,
    still_columns,
)
from sortal.kernels.landmarks import FeatureTiles, block_rows
from sortal.kernels.model import (
    MOST_DEGREE,
    KernelLike,
    KernelModel,
    Penalty,
    beyond,
    check_constant,
    check_degree,
    check_kernel,
    check_width,
    kernel_matrix,
    kernel_name,
    no_progress,
    positive,
)
from sortal.kernels.solve import (
    Dual,
    Features,
    solve_features,
    solved_form,
)
from sortal.summaries.class_moments import ClassTiles, measure_tiles
from sortal.summaries.counts import DiscriminantSummary, count_rows, sizes_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from sortal._typing import (
        CategoricalFeatures,
        ClassWeight,
        CostsLike,
        Counts,
        Float,
        Places,
        PriorsLike,
    )
    from sortal.base.learner import Training
    from sortal.data.columns import Values
    from sortal.data.sources import Batch
    from sortal.discriminants.leave_one_out import FittedStatistics
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.kernels.first_pass import BasisRows, KernelBasis
    from sortal.kernels.model import ReportProgress
    from sortal.records.tables import Table
    from sortal.summaries.class_moments import ClassMoments
    from sortal.summaries.counts import RowCounts


# --- Options -------------------------------------------------------------------------------------

Scale = Literal["auto", "std"]
Rule = Literal["gaussian", "nearest_mean"]
SolverChoice = Literal["auto", "dense", "landmarks"]
Missing = Literal["drop_rows", "mean", "error"]
Unknown = Literal["skip", "error"]


def _ridge(name: str, given: object) -> object:
    if given is None or (isinstance(given, str) and given == "loo"):
        return given
    if isinstance(given, str):
        raise ParameterError(
            f"{name}={given!r} is not known: it can be a number of at least 0, 'loo', or None."
        )
    return non_negative(name, given)


@dataclass(eq=False, repr=False)
class KernelOptions:
    """The parameters of the kernel discriminant."""

    kernel: KernelLike = option(
        "rbf",
        '{"rbf", "poly", "linear", "laplacian", "precomputed"} or callable',
        """exp(-γ‖u - u'‖²), (γ uᵀu' + coef0)^degree, uᵀu' or exp(-γ‖u - u'‖₁) of the inputs u of
        two rows; a function of two matrices of inputs, which gives the matrix of kernel values;
        or, for "precomputed", X is that matrix, of all rows of the fit with each other, and at
        predict of the rows asked about with all rows of the fit.""",
        check_kernel,
    )
    _: KW_ONLY
    gamma: float | None = option(
        None,
        "float",
        """γ above 0. None: one over the sum of the variances of the inputs for "rbf", of their
        standard deviations for "laplacian", and 1 for "poly".""",
        check_width,
    )
    degree: int = option(2, f"int from 1 to {MOST_DEGREE}", 'Of "poly".', check_degree)
    coef0: float = option(0.0, "float of at least 0", 'Of "poly".', check_constant)
    scale: Scale | None = one_of(
        Scale,
        "auto",
        """Whether numbers are divided by their standard deviation (divisor: the weight of all
        rows). "auto" does so for "rbf" and "laplacian". Indicators of categories are never
        divided.""",
        none=True,
    )
    ridge: float | Literal["loo"] | None = option(
        None,
        'float of at least 0, "loo" or None',
        """The weight of the penalty; for penalty="rkhs" as a share of Σ v_i k(x_i, x_i), v being
        the weights of the rows. None: 2/n, n being the number of rows, so that μ is twice the mean
        of k(x, x); or the ε that damps as much. 0 is the limit of a vanishing ridge. "loo" takes
        that of nine values under which rows are likeliest when they are left out one by one.""",
        _ridge,
    )
    penalty: Penalty = one_of(
        Penalty, "rkhs", "P = μK, the squared length of w, or P = ε diag(1/v), that of a."
    )
    rule: Rule = one_of(
        Rule,
        "gaussian",
        """One Gaussian a class, with the pooled covariance along the directions; or the class
        whose projected mean is nearest by that covariance, whatever the shares of the classes.""",
    )
    n_components: int | None = whole(
        None,
        1,
        "How many directions to use; at most one fewer than classes.",
        none="as many as there are",
    )
    solver: SolverChoice = one_of(
        SolverChoice,
        "auto",
        """"dense": all rows are the basis. "landmarks": rows that describe the others best.
        "auto" is "dense" up to 10,000 rows where memory allows. `partial_fit` has landmarks
        always.""",
    )
    n_landmarks: int | None = whole(
        None,
        1,
        "None: 1000, or all rows if there are fewer.",
        none="1000, or all rows if fewer",
    )
    random_state: int | np.random.RandomState | None = random_state("Which rows become landmarks.")
    priors: PriorsLike = priors()
    class_weight: ClassWeight = class_weight()
    costs: CostsLike = costs()
    categorical_features: CategoricalFeatures = categorical_features(
        "A category enters as one\nindicator for each of its values."
    )
    missing: Missing = one_of(
        Missing,
        "drop_rows",
        """Missing values at fit: the row is left out, the missing value takes the mean of its
        column (over the rows of the first call), or an error. At predict a missing value takes the
        mean of its column, a category the shares of its values, except with "error".""",
    )
    unknown: Unknown = one_of(
        Unknown,
        "skip",
        """A value that the first rows did not have is treated as a missing value, or is an
        error.""",
    )
    progress: Callable[[int, int], object] | None = progress(
        """Called during a fit with how many of 100 parts are done, and 100. What it raises ends
        the fit."""
    )
    n_jobs: int | None = n_jobs()


def check_options(options: KernelOptions) -> None:
    """Refuse options that contradict each other."""
    if options.rule == "nearest_mean" and options.priors is not None:
        raise priorless()
    if kernel_name(options.kernel) == "precomputed" and options.solver == "landmarks":
        raise ParameterError(
            "solver='landmarks' needs rows, and kernel='precomputed' has none: set solver='dense'."
        )


def priorless() -> ParameterError:
    """The error for priors of a rule that has none."""
    return ParameterError(
        "priors cannot be given with rule='nearest_mean', in which all classes count alike: set "
        "rule='gaussian', or priors=None."
    )


# --- What is to be solved ------------------------------------------------------------------------

# The ridge where none is given, over the number of rows: μ is twice the mean of k(x, x).
DEFAULT_RIDGE = 2.0

# What is tried where ridge="loo".
RIDGES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True, eq=False)
class KernelSummary:
    """What a fit knows of its rows: the basis, counts, and of landmarks the moments in their space.

    Summaries by one basis merge.
    """

    basis: KernelBasis
    counts: DiscriminantSummary

    @property
    def rows(self) -> RowCounts:
        """All rows and their missing values."""
        return self.counts.rows

    @property
    def labels(self) -> Values:
        """The classes that have weight."""
        return self.counts.labels

    @property
    def class_weights(self) -> Counts:
        """Their weights, in units."""
        return self.counts.class_weights

    @property
    def exponent(self) -> int:
        """The unit of weight is 2**-exponent."""
        return self.counts.exponent

    def merge(self, other: Self) -> KernelSummary:
        """The summary of both sets of rows."""
        return replace(self, counts=self.counts.merge(other.counts))

    def in_space(self, basis: KernelBasis) -> KernelSummary:
        """The same rows, all of which are the basis here, by landmarks among them."""
        rows, counts = self.basis.rows, self.counts
        labels = CategoryColumn(self.labels, rows.codes(self.labels).astype(np.int32))
        units = np.ldexp(rows.weight, self.exponent).astype(np.int64)
        moments = measure_rows(basis, rows.u, labels, units, self.exponent)
        return KernelSummary(basis, replace(counts, moments=moments))


def measure_rows(
    basis: KernelBasis,
    u: Float | None,
    labels: CategoryColumn,
    units: Counts | None,
    exponent: int,
    rows: Places | None = None,
) -> ClassMoments:
    """The moments of the classes: of all rows as basis weights alone, else of landmark features."""
    space, tiles = basis.space, ClassTiles((), (), (), units, None)
    names: tuple[str, ...] = ()
    if space is not None and u is not None:
        tiles, names = FeatureTiles(space, u, units), space.names
    made = measure_tiles(tiles, (names, (), ()), labels, units, exponent, rows)
    if made is None:
        raise beyond()
    return made


def count_training(
    training: Training, basis: KernelBasis, tell: ReportProgress, *, fills: bool
) -> DiscriminantSummary:
    """Counts of the rows that take part, and of landmarks the moments of their features."""
    source, engine, select = training.source, training.engine, select_rows(fills=fills)
    space = basis.space

    def count(batch: Batch) -> DiscriminantSummary:
        rows = np.flatnonzero(select(batch))
        u = None if space is None else basis.inputs(batch).u
        moments = measure_rows(basis, u, batch.labels(), batch.units, batch.exponent, rows)
        return DiscriminantSummary(count_rows(batch), sizes_of(batch, rows), moments)

    if space is None:
        return engine.reduce(source, count)
    n_classes = len(set(basis.rows.labels.tolist()))
    most = block_rows(source.table.n_rows, n_classes)
    source = replace(source, block_rows=most)
    return merge_all(each(engine.map(source, count), source.n_blocks, tell))


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """What is to be solved: a summary, weighed by classes as the options say."""

    summary: KernelSummary
    classes: Values
    options: KernelOptions

    @cached_property
    def plain(self) -> tuple[Float, Float]:
        """Weight and rows by class, before class weights."""
        return class_counts(self.summary.counts, self.classes)

    @cached_property
    def factor(self) -> Float:
        """What the class of a row multiplies its weight by."""
        return read_class_weight(self.options.class_weight, self.classes, self.plain[0])

    @cached_property
    def weighed(self) -> tuple[Float, Float]:
        """Weight n_c and rows by class."""
        weight, rows = multiply_rows(*self.plain, self.factor)
        refuse_weightless(self.options.class_weight, self.plain[0], weight)
        return weight, rows

    @cached_property
    def basis(self) -> BasisRows:
        """The rows of the basis; of all rows, those that still have weight."""
        basis = self.summary.basis
        codes = basis.rows.codes(self.classes)
        if basis.space is not None:
            return basis.rows
        return basis.rows.take(np.flatnonzero(self.factor[codes] > 0))

    @cached_property
    def labeled(self) -> Labeled:
        """Classes and weights of the basis rows."""
        codes = self.basis.codes(self.classes)
        return Labeled(codes, self.basis.weight * self.factor[codes], len(self.classes))

    def check(self) -> None:
        """Refuse options that do not fit the classes, before the work begins."""
        _ = self.most, self.prior, self.weighed

    @property
    def most(self) -> int | None:
        """How many directions are asked for."""
        given, most = self.options.n_components, len(self.classes) - 1
        if given is not None and given > most > 0:
            raise ParameterError(
                f"n_components={brief(given)} cannot be had: {len(self.classes)} classes have at "
                f"most {counted(most, 'direction')}. Give a whole number from 1 to {most}, or None."
            )
        return given

    @property
    def given_prior(self) -> Float | None:
        """π_c as given; alike where the nearest mean decides."""
        if self.options.rule == "nearest_mean":
            return np.full(len(self.classes), 1.0 / len(self.classes))
        return read_priors(self.options.priors, self.classes)

    @property
    def prior(self) -> Float:
        """π_c as given, or the share of each class."""
        given, (weight, _) = self.given_prior, self.weighed
        return weight / weight.sum() if given is None else given

    @cached_property
    def space(self) -> ClassStatistics:
        """Of landmarks, the statistics of their features before class weights."""
        summary, m = self.summary.counts, self.summary.counts.moments
        short = replace(  # without k(x, x)
            m,
            numbers=m.numbers[:-1],
            origin=m.origin[:, :-1],
            mean=m.mean[:, :-1],
            scatter=m.scatter[:, :-1, :-1],
            third=m.third[:, :-1],
            slack=np.delete(m.slack, -2, axis=1),
        )
        columns = tuple(ColumnSchema(name, "number") for name in short.numbers)
        return read_statistics(replace(summary, moments=short), Schema(columns, self.classes))

    @cached_property
    def features(self) -> Features:
        """What is solved of landmarks: S_w + μK_mm, or S_w + ε diag(1/v)."""
        space, stats = self.summary.basis.space, multiply(self.space, self.factor)
        assert space is not None  # noqa: S101  (of landmarks)
        B = space.to_coefs
        norm = np.eye(len(B)) if space.turned else space.gram
        by_length = self.options.penalty == "rkhs"
        ridge = norm if by_length else B.T @ (B / self.labeled.weight[:, None])
        return Features(stats.weight, stats.means, B, norm, ridge, stats.scatter)

    @cached_property
    def diagonal(self) -> Float:
        """Of landmarks, the mean of k(x, x) in each class."""
        moments = self.summary.counts.moments.over(self.classes, ())
        return np.asarray(moments.origin[:, -1] + moments.mean[:, -1])

    @cached_property
    def fitted(self) -> FittedStatistics:
        """The statistics of the rows, ready to lose one."""
        dense = self.summary.basis.space is None
        stats = (
            read_statistics(self.summary.counts, Schema((), self.classes)) if dense else self.space
        )
        weight = self.options.class_weight
        return read_fitted(stats, weight, self.given_prior, self.summary.exponent)

    def penalty(self, diagonal: float) -> tuple[float, float]:
        """The ridge, and μ = ridge · Σ v_i k(x_i, x_i), or ε, which is the ridge itself.

        `diagonal` is Σ v_i k(x_i, x_i). Where no ridge is given, it is 2/n, n being the rows of
        all classes that count (of whole-number weights, the copies), or its ε.
        """
        given, rkhs = self.options.ridge, self.options.penalty == "rkhs"
        if given is None:
            n_rows = float(self.plain[1][self.factor > 0].sum())
            return self.half_point(DEFAULT_RIDGE / n_rows, diagonal)
        return float(given), float(given) * diagonal if rkhs else float(given)

    def half_point(self, g: float, diagonal: float) -> tuple[float, float]:
        """The ridge g and its μ, or ε = (gΣ v_i k(x_i, x_i))² for both, which damps as much."""
        mu = g * diagonal
        return (g, mu) if self.options.penalty == "rkhs" else (mu**2, mu**2)


def class_counts(counts: DiscriminantSummary, classes: Values) -> tuple[Float, Float]:
    """Weight and rows of each class."""
    place = {label: c for c, label in enumerate(classes)}
    weight, rows = np.zeros(len(place)), np.zeros(len(place))
    units = np.ldexp(counts.moments.units.astype(np.float64), -counts.exponent)
    weight[[place[label] for label in counts.labels]] = units
    rows[[place[label] for label in counts.sizes.classes]] = counts.sizes.units
    return weight, rows


# --- The solution --------------------------------------------------------------------------------

# The problem with the ridge that leaving out rows chooses, and what was tried.
ChooseRidge: TypeAlias = (
    "Callable[[KernelProblem, Training, StagedProgress], tuple[KernelProblem, Table]]"
)

# What share of a fit is done with the moments of landmarks, where a ridge is chosen after it.
SUMMED = 0.4


def summarize(training: Training, basis: KernelBasis, options: KernelOptions) -> KernelSummary:
    """What is counted of the rows of a fit."""
    stop = SUMMED if options.ridge == "loo" else 0.9
    tell = StagedProgress(options.progress).part(0.2, stop)
    counts = count_training(training, basis, tell, fills=options.missing == "mean")
    return KernelSummary(basis, counts)


def learn(
    choose_ridge: ChooseRidge,
    summary: KernelSummary,
    schema: Schema,
    options: KernelOptions,
    training: Training | None,
) -> KernelModel:
    """The model of a summary, with the ridge that is given or chosen."""
    problem = KernelProblem(summary, schema.classes, options)
    progress = StagedProgress(options.progress)
    problem.check()
    curve = None
    if options.ridge == "loo":
        assert training is not None  # noqa: S101  (pieces were refused)
        problem, curve = choose_ridge(problem, training, progress)
    basis, rows, labeled = summary.basis, problem.basis, problem.labeled
    penalty = problem.options.penalty
    form: Dual | Features
    if basis.space is None:
        first = [basis_matrix(problem, training, progress.part(0.0, 0.3))]
        own = np.diag(first[0])
        refuse_beyond(own, labeled.weight)
        ridge, mu = problem.penalty(float(labeled.weight @ own))

        def make() -> Float:
            return first.pop() if first else basis_matrix(problem, training, no_progress)

        form = solved_form(make, labeled, penalty, mu)
    else:
        if penalty == "coefficients" and not labeled.weight.all():
            raise ParameterError(
                f"class_weight={problem.options.class_weight!r} leaves landmarks without weight, "
                "whose coefficients penalty='coefficients' cannot weigh: set penalty='rkhs', or "
                "fit again."
            )
        refuse_beyond(problem.diagonal, problem.weighed[0])
        ridge, mu = problem.penalty(float(problem.weighed[0] @ problem.diagonal))
        form = problem.features
    solved = form.solution() if isinstance(form, Dual) else solve_features(form, mu)
    solution = solved.along(problem.most)
    progress.tell(1.0)
    return KernelModel(
        classes=problem.classes,
        kernel=basis.kernel,
        inputs=basis.inputs,
        basis=rows.u,
        ids=rows.ids,
        codes=rows.codes(problem.classes),
        weight_of_basis=labeled.weight,
        solver="dense" if basis.space is None else "landmarks",
        penalty=penalty,
        ridge=ridge,
        mu=mu,
        coefs=np.ascontiguousarray(solution.coefs),
        eigenvalues=solution.eigenvalues,
        lengths=solution.lengths,
        means=solution.means,
        scatters=solution.scatters,
        weight=problem.weighed[0],
        prior=problem.prior,
        divisor=float(pooled_divisor(*problem.weighed)),
        condition=solution.condition,
        curve=curve,
    )


def basis_matrix(problem: KernelProblem, training: Training | None, tell: ReportProgress) -> Float:
    """K of the basis rows; what is not positive by its form is looked at."""
    basis, rows = problem.summary.basis, problem.basis
    kernel = basis.kernel
    if kernel.name == "precomputed":
        assert training is not None  # noqa: S101  (pieces were refused)
        given = rows_at(training, basis.inputs, rows.ids)
        return positive(given.u[:, rows.ids], "The kernel matrix X")
    if kernel.name == "callable":
        return positive(kernel.matrix(rows.u, rows.u), "The matrix of this kernel")
    return kernel_matrix(kernel, rows.u, n_threads(problem.options.n_jobs), tell)


def read_schema(declared: Schema, summary: KernelSummary, options: KernelOptions) -> Schema:  # noqa: ARG001
    """What was declared, with the values that the inputs know and the classes that have weight."""
    design = summary.basis.inputs.design
    values = tuple(design.schema.columns[j].values for j in design.categories)
    return schema_of(declared, values, summary.labels)


def report_fit(
    summary: KernelSummary,
    schema: Schema,
    model: KernelModel | None,
    options: KernelOptions,  # noqa: ARG001
) -> FitReport:
    """What to know of rows, columns, landmarks and directions; of the last, warned of, too."""
    missing, notes = report_missing(summary.counts, schema)
    basis, n = summary.basis, len(summary.basis.rows.ids)
    notes += [
        f"column {name!r} never varies and is left out" for name in still_columns(basis.inputs)
    ]
    if n < basis.asked:
        notes.append(
            f"{counted(n, 'landmark')} {agreed(n, 'describes', 'describe')} all rows to the last "
            f"digits: {basis.asked} are not needed"
        )
    if model is not None and np.isinf(model.eigenvalues).any():
        notes.append(
            "without a ridge this kernel separates every training set of distinct rows, and "
            "these too: that says nothing of other rows. Set a ridge"
        )
        warn(f"{sentence(notes[-1])}.", PerfectSeparationWarning)
    return FitReport(summary.rows.rows, missing, tuple(notes))

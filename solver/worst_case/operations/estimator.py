"""Wrap the worst case as a scikit-learn estimator: fitted on some records, scored on others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from linkrisk.arrays import FloatArray, IndexArray
from linkrisk.datasets.microdata.names import with_columns
from linkrisk.datasets.microdata.numeric import check_known
from linkrisk.datasets.microdata.scale_inference import in_days
from linkrisk.datasets.microdata.schema_files import schema_of
from linkrisk.datasets.microdata.tables import Table, load_table
from linkrisk.datasets.options.option import part
from linkrisk.datasets.pairs.attributes import text_columns, with_missing
from linkrisk.datasets.pairs.categorical import listed_categories, spelled_alike, with_frequencies
from linkrisk.datasets.pairs.file_pair import attribute_values, recoded_values
from linkrisk.datasets.pairs.survey_design import survey_design
from linkrisk.errors import needs_extra
from linkrisk.formulations.linkage.comparison import Columns, KnownValues, Missing, compare_files
from linkrisk.formulations.linkage.distances import FileMoments, Standardisation, file_moments
from linkrisk.formulations.linkage.pair import Direction, Ties, make_pair, pair_of
from linkrisk.solver.inputs.problem import Problem
from linkrisk.solver.inputs.reading import distance_tables, make_problem
from linkrisk.solver.linkage.evaluator import Evaluator
from linkrisk.solver.options.checks import check_asked
from linkrisk.solver.options.pair import ProblemOptions
from linkrisk.solver.options.taking import docstring, keeping
from linkrisk.solver.options.types import TableLike
from linkrisk.solver.options.worst_case import EstimatorOptions, FitOptions
from linkrisk.solver.run.errors import UsageError
from linkrisk.solver.worst_case.families import several
from linkrisk.solver.worst_case.operations.fitting import asked_fit
from linkrisk.solver.worst_case.result import FitResult
from linkrisk.solver.worst_case.single_fit import fit_one

needs_extra("WorstCaseLinkage", "sklearn")

from sklearn.base import BaseEstimator  # noqa: E402
from sklearn.utils import check_random_state  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402


class WorstCaseLinkage(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The distance that re-identifies most records of a file pair, and what it does to other records.

    What it is given as X is the original table, and as y the masked one. So it goes to the end of a pipeline
    and into a grid search as any estimator does: the records of both tables are taken row by row.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    parameters_ : dict
        The worst-case parameters, as the JSON of `fit` shows them.
    linked_ : int
        Records that they link.
    linked_upper_bound_ : int
        No parameters of the family link more of the records learned from; of samples,
        `result_.linked_confidence_limit` says more.
    moments_ : FileMoments or None
        Means and standard deviations of the numeric attributes that were learned; None where values stay as
        they are.
    attributes_ : tuple of str
        The attributes that are compared.
    result_ : FitResult
        Everything else that `fit` says.
    n_features_in_ : int
        Columns of the original table.
    feature_names_in_ : ndarray of str, shape (features,)
        Their names, where the table has some.

    Examples
    --------
    >>> import linkrisk
    >>> iris = linkrisk.data.load("iris")[::10].drop(columns="class")
    >>> masked = linkrisk.mask(iris, "noise", parameters={"percent": 20.0}, seed=1).table
    >>> estimator = linkrisk.WorstCaseLinkage(aggregator="owa").fit(iris, masked)
    >>> estimator.result_.proven
    True
    """

    __init__ = keeping(EstimatorOptions)

    def fit(self, original: TableLike, masked: TableLike, partner: ArrayLike | None = None) -> Self:
        """Learn the worst-case parameters, and the moments that values are standardised by.

        Parameters
        ----------
        original : ndarray of shape (n, a), frame or path
            The original records.
        masked : ndarray of shape (m, a), frame or path
            The masked records.
        partner : array of int, shape (n,), optional
            Masked row of each original record, -1 where it has none; row by row when absent.

        Returns
        -------
        self

        Raises
        ------
        UsageError, DataError, FormulationError
            If the parameters or the tables cannot be used. All of them are ValueErrors.
        """
        if several(self.aggregator) is not None:
            raise UsageError("WorstCaseLinkage learns one family: name one aggregator")
        params = self.get_params(deep=False)
        del params["random_state"]
        asked = FitOptions(**params, seed=self._seed())
        check_asked(asked)
        request = asked_fit(asked)
        self._schema = schema_of(self.schema)
        first, second = self._loaded(original, masked)
        problem = self._problem(asked, first, second, partner)
        with request.with_pool() as ready:
            self.result_ = FitResult.of(fit_one(problem, ready).result)
        self.parameters_ = self.result_.parameters
        self.linked_ = self.result_.linked
        self.linked_upper_bound_ = self.result_.linked_upper_bound
        self._learn(problem)
        self.n_features_in_ = len(first.columns)
        if not isinstance(original, np.ndarray):
            self.feature_names_in_ = np.array(first.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of a fit before this one
        return self

    def score(self, original: TableLike, masked: TableLike, partner: ArrayLike | None = None) -> float:
        """Share of records that the learned parameters link, in units of the moments that were learned.

        Parameters
        ----------
        original, masked, partner
            As for `fit`; usually records that were held out.

        Returns
        -------
        float
            From 0 to 1; with shared ties the expected share, with sampling weights that of their sum.
        """
        first, second = self._tables(original, masked)
        rows = partner_rows(partner, first, second)
        weight = survey_design(first, second, rows, self._schema).weight
        pair = make_pair(
            *self._values(first, second),
            rows,
            ties=Ties(self._problem_options.ties or Ties.STRICT),
            weight=weight,
            **self._comparing(),
        )
        evaluation = Evaluator(pair).rank(self._form())
        total = pair.blocks if weight is None else weight[rows >= 0].sum()
        return float(evaluation.linked_weight / total)

    def predict(self, original: TableLike, masked: TableLike) -> IndexArray:
        """The nearest candidate of each record under the learned parameters.

        Parameters
        ----------
        original : ndarray of shape (n, a), frame or path
        masked : ndarray of shape (m, a), frame or path

        Returns
        -------
        ndarray of int, shape (n,)
            Row of the masked record that is nearest to each original one, the first of those that are
            equally near; -1 where none is possible. With ``masked-to-original`` it is the row of the nearest
            original record, shape (m,).
        """
        comparison = compare_files(*self._values(*self._tables(original, masked)), **self._comparing())
        rows, form = np.arange(len(comparison.queries)), self._form()
        # One block per record to be linked; partners do not matter here.
        pair = pair_of(comparison, rows, np.zeros_like(rows), np.ones(rows.size), Ties.STRICT)
        candidates, nearest = np.arange(len(comparison.candidates)), np.empty_like(rows)
        for some, distances in pair.chunks(form.differences):
            total = form(distances)
            total[~pair.possible(rows[some, None], candidates)] = np.inf
            nearest[some] = np.where(np.isfinite(total).any(axis=1), total.argmin(axis=1), -1)
        return nearest

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _problem(
        self, asked: FitOptions, original: Table, masked: Table, partner: ArrayLike | None
    ) -> Problem:
        """Build the problem of two tables, aligned by a temporary column of ids."""
        rows = partner_rows(partner, original, masked)
        ids = partner_ids(rows, len(original.frame), len(masked.frame))
        column = "record"
        while column in (*original.columns, *masked.columns):
            column += "_"
        frames = [
            with_columns(table.frame, {column: own})
            for table, own in zip((original, masked), ids, strict=True)
        ]
        attributes = None if asked.attributes is None else list(asked.attributes)
        options = part(ProblemOptions, asked, id=column, schema=self._schema, attributes=attributes)
        return make_problem(frames[0], frames[1], options)

    def _learn(self, problem: Problem) -> None:
        files = problem.files
        self.attributes_ = files.attributes
        self._problem_options, self._aggregator = problem.options, problem.aggregator
        values = files.compared_values, files.masked_values
        self._recoded, self._dates = files.recoded, files.dates
        self._categorical = {
            name: with_frequencies(attribute, *(each[:, files.attributes.index(name)] for each in values))
            for name, attribute in files.categorical.items()
        }
        known = replace(files, categorical=self._categorical)
        self._distances = distance_tables(known, Missing(problem.options.missing))
        numeric = [at for at, name in enumerate(files.attributes) if name not in files.categorical]
        standardisation = Standardisation(problem.options.standardisation)
        first, second = (each[:, numeric] for each in values)
        self.moments_ = file_moments(first, second, standardisation)
        self._known: KnownValues | None = None
        compared = compare_files(*values, **self._comparing())
        self._known = KnownValues.of(compared.queries, compared.candidates, np.array(numeric, dtype=np.intp))

    def _loaded(self, original: TableLike, masked: TableLike) -> tuple[Table, Table]:
        """Load two tables with the names and ids that text files have."""
        text = (*listed_categories(self.nominal, self.ordinal, self._schema), *text_columns(self._schema))
        return load_table(original, "original", text), load_table(masked, "masked", text)

    def _tables(self, original: TableLike, masked: TableLike) -> tuple[Table, Table]:
        """Load two tables with the attributes of the fit."""
        check_is_fitted(self)
        tables = self._loaded(original, masked)
        found = len(tables[0].columns)
        if isinstance(original, np.ndarray) and found != self.n_features_in_:
            raise UsageError(
                f"X has {found} features, but WorstCaseLinkage is expecting {self.n_features_in_} features "
                "as input"
            )
        for table in tables:
            check_known(self.attributes_, table.columns, table.source)
        categories = {name: attribute.categories for name, attribute in self._categorical.items()}
        known = in_days(with_missing(tables, self._schema), self._dates)
        first, second = spelled_alike(known, categories)
        return first, second

    def _values(self, original: Table, masked: Table) -> tuple[FloatArray, FloatArray]:
        """Convert the compared attributes to numbers, NaN where missing."""
        return (
            recoded_values(
                attribute_values(original, self.attributes_, self._categorical),
                self.attributes_,
                self._recoded,
            ),
            attribute_values(masked, self.attributes_, self._categorical),
        )

    def _comparing(self) -> dict[str, Any]:
        """Set up the comparison: learned units, and learned replacements of missing values."""
        unchanged = np.zeros(len(self.attributes_) - len(self._categorical))
        as_they_are = FileMoments(*((unchanged, unchanged + 1.0),) * 2)
        return {
            "columns": Columns(
                self.attributes_,
                self._distances,
                Missing(self._problem_options.missing),
                self._known,
            ),
            "direction": Direction(self._problem_options.direction),
            "standardisation": self.moments_ or as_they_are,
        }

    def _form(self) -> Any:
        return self._aggregator.form(self._aggregator.encode(self.parameters_))


WorstCaseLinkage.__doc__ = (WorstCaseLinkage.__doc__ or "").replace(
    "{options}", docstring(EstimatorOptions).lstrip()
)


def partner_rows(partner: ArrayLike | None, original: Table, masked: Table) -> IndexArray:
    """Find the masked row of each original record; UsageError when unknown or not an integer."""
    if partner is None:
        sizes = f"{len(original.frame)} original and {len(masked.frame)} masked records"
        if len(original.frame) != len(masked.frame):
            raise UsageError(
                f"{sizes}: without a partner for each, the files must have the same number of rows"
            )
        return np.arange(len(original.frame))
    rows = np.asarray(partner)
    if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer) or (rows < -1).any():
        raise UsageError("partner must be a list of masked rows, counted from 0, with -1 for none")
    return rows.astype(np.intp)


def partner_ids(partner: IndexArray, originals: int, masked: int) -> tuple[list[str], list[str]]:
    """Make ids that align the records of both files."""
    if len(partner) != originals:
        given = f"{len(partner)} partners for {originals} original records"
        raise UsageError(f"{given}: give one for each, -1 for none")
    known = np.flatnonzero(partner >= 0)
    if partner.max(initial=-1) >= masked:
        raise UsageError(
            f"partner {partner.max()} is not a row of the {masked} masked records: rows count from 0"
        )
    if np.unique(partner[known]).size != known.size:
        raise UsageError("two original records have the same partner: give each a different masked row")
    own = [f"masked {at}" for at in range(masked)]
    for row in known.tolist():
        own[partner[row]] = f"original {row}"
    return [f"original {row}" for row in range(originals)], own

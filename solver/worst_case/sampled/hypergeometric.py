r"""What a sample without replacement says of the whole file: an exact upper confidence limit.

Of n records some W have a property (here: the best parameters of the file link them), and u of m records
drawn at random without replacement have it at most. The number X in the sample is hypergeometric,

.. math:: P_W(X \le u) = \sum_{k \le u} \binom{W}{k} \binom{n-W}{m-k} / \binom{n}{m},

and decreases in W. The upper confidence limit is the largest W that such a sample does not contradict, the
largest with :math:`P_W(X \le u) \ge \alpha`. Whatever W is, the limit is below it with probability
:math:`\alpha` at most (C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits
illustrated in the case of the binomial, Biometrika 26, 1934; for finite
populations W. G. Cochran, Sampling Techniques, 3rd ed. 1977, section 3.6).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb


def upper_limit(records: int, sample: int, found: int, alpha: Fraction) -> int:
    """The largest number of records with a property that a sample does not contradict.

    Parameters
    ----------
    records : int
        Records of the file, n >= 1.
    sample : int
        Records drawn, 0 <= m <= n.
    found : int
        So many of them have the property at most, 0 <= u <= m.
    alpha : Fraction
        One minus the confidence, above 0 and below 1.

    Returns
    -------
    int
        W between u and n - (m - u); monotone in `found`. Exact: comparisons are of whole numbers.
    """
    low, high = found, records - (sample - found)  # P of the first is 1
    while low < high:
        middle = (low + high + 1) // 2
        if not_contradicted(records, sample, found, middle, alpha):
            low = middle
        else:
            high = middle - 1
    return low


def not_contradicted(records: int, sample: int, found: int, having: int, alpha: Fraction) -> bool:
    """Whether at most `found` in the sample has probability `alpha` or more where `having` records have it.

    The terms are added up from the last one down as multiples of a common denominator, and the sum is
    compared in whole numbers; bounds by a geometric series decide most comparisons after few terms.
    """
    first = max(0, sample - (records - having))
    last = min(found, having, sample)
    if last < first:
        return False
    needed = alpha * comb(records, sample)
    term = comb(having, last) * comb(records - having, sample - last)
    total, k = term, last
    while total < needed and k > first:
        # C(W, k-1) C(n-W, m-k+1) from C(W, k) C(n-W, m-k)
        term = term * k * (records - having - sample + k) // ((having - k + 1) * (sample - k + 1))
        total, k = total + term, k - 1
        if k < last and _too_small(term, total, needed, records, sample, having, k):
            return False
    return total >= needed


def _too_small(
    term: int, total: int, needed: Fraction, records: int, sample: int, having: int, k: int
) -> bool:
    """Whether all further terms together cannot reach what is needed: they fall faster than a series."""
    above, below = k * (records - having - sample + k), (having - k + 1) * (sample - k + 1)
    # Ratios fall with k, so the rest is at most a geometric series, and finite where this one is below 1.
    return above < below and (total - needed) * (below - above) + term * above < 0

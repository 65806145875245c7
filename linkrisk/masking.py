"""Masking methods: a frozen dataclass each, with ``apply(frame, seed)``, and sequences of them."""

from linkrisk.datasets.masking.base import MaskingMethod as MaskingMethod
from linkrisk.datasets.masking.local_suppression import LocalSuppression as LocalSuppression
from linkrisk.datasets.masking.microaggregation import PROTECTIONS as PROTECTIONS
from linkrisk.datasets.masking.microaggregation import Microaggregation as Microaggregation
from linkrisk.datasets.masking.microaggregation import OptimalMicroaggregation as OptimalMicroaggregation
from linkrisk.datasets.masking.noise import AdditiveNoise as AdditiveNoise
from linkrisk.datasets.masking.noise import Rounding as Rounding
from linkrisk.datasets.masking.parameters import AttributeGroup as AttributeGroup
from linkrisk.datasets.masking.pram import Pram as Pram
from linkrisk.datasets.masking.rank_swapping import RankSwapping as RankSwapping
from linkrisk.datasets.masking.recoding import BottomCoding as BottomCoding
from linkrisk.datasets.masking.recoding import GlobalRecoding as GlobalRecoding
from linkrisk.datasets.masking.recoding import Recode as Recode
from linkrisk.datasets.masking.recoding import TopCoding as TopCoding
from linkrisk.datasets.masking.record_swapping import RecordSwapping as RecordSwapping
from linkrisk.datasets.masking.registry import METHODS as METHODS
from linkrisk.datasets.masking.registry import make_method as make_method
from linkrisk.datasets.masking.sequence import masked_in_order as masked_in_order
from linkrisk.datasets.masking.sequence import planned as planned
from linkrisk.datasets.masking.weight_calibration import WeightCalibration as WeightCalibration

"""Tables as they are kept, and the rules that say which cells are sensitive."""

from linkrisk.datasets.tables.explanatory_variables import Incomplete as Incomplete
from linkrisk.datasets.tables.stored_table import StoredTable as StoredTable
from linkrisk.formulations.tables.cell_table import CellTable as CellTable
from linkrisk.formulations.tables.magnitude_noise import MagnitudeDesign as MagnitudeDesign
from linkrisk.formulations.tables.primary_rules import DominanceRule as DominanceRule
from linkrisk.formulations.tables.primary_rules import FrequencyRule as FrequencyRule
from linkrisk.formulations.tables.primary_rules import PPercentRule as PPercentRule
from linkrisk.formulations.tables.primary_rules import PrimaryRule as PrimaryRule
from linkrisk.formulations.tables.primary_rules import RequestRule as RequestRule
from linkrisk.formulations.tables.primary_rules import ZeroRule as ZeroRule

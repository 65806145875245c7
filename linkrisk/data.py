"""Files, file pairs and public data: schemas, readers, and what is in a file."""

from linkrisk.datasets.microdata.column_descriptions import ColumnDescription as ColumnDescription
from linkrisk.datasets.microdata.hierarchies import Hierarchy as Hierarchy
from linkrisk.datasets.microdata.roles import Role as Role
from linkrisk.datasets.microdata.roles import Scale as Scale
from linkrisk.datasets.microdata.schema import Attribute as Attribute
from linkrisk.datasets.microdata.schema import Schema as Schema
from linkrisk.datasets.microdata.schema_files import read_schema as read_schema
from linkrisk.datasets.microdata.schema_files import write_schema as write_schema
from linkrisk.datasets.microdata.tables import load_table as load_table
from linkrisk.datasets.pairs.file_pair import FilePair as FilePair
from linkrisk.datasets.pairs.file_pair import make_file_pair as make_file_pair
from linkrisk.datasets.pairs.partition import spanning_tree_partition as spanning_tree_partition
from linkrisk.datasets.public.embedded import GROUPS as GROUPS
from linkrisk.datasets.public.embedded import default_pair as default_pair
from linkrisk.datasets.public.embedded import load_wdbc as load_wdbc
from linkrisk.datasets.public.registry import load as load
from linkrisk.solver.inputs.describe import Description as Description
from linkrisk.solver.inputs.describe import describe as describe

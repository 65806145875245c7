"""The commands and actions of the program: their functions, descriptions and examples."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command, or an action of one.

    `run` is its function, as module of this room and name; without one it has actions. What such a module
    calls `complete_` and the function's name adds to the parsed arguments before they are checked.
    """

    line: str
    run: str = ""
    description: str | None = None
    example: str | None = None
    unchecked: tuple[str, ...] = ()
    """Options naming files whose suffixes the function checks."""


CATALOGUE = {
    "fit": Command(
        "find the distance that re-identifies the most records, with an upper bound",
        "pairs:fit",
        "Find the distance that re-identifies the most records, with an upper bound for all others.",
        "example: fit --original o.csv --masked m.csv --report risk.html",
    ),
    "compare": Command(
        "the exact engine and the same model on every available backend",
        "pairs:compare",
        "Run the exact engine, and solve the same model on every available backend, each in its own process.",
    ),
    "evaluate": Command(
        "count what learned parameters re-identify in a file pair",
        "pairs:evaluate",
        "Apply the parameters of a `fit --json` or `link --json` file to a file pair and count. "
        "What they were learned with (direction, ties, ...) holds unless it is given again. A file with "
        'your own weights needs {"parameters": {"weights": {"A": 0.7, "B": 0.3}}} only.',
    ),
    "verify": Command(
        "check the certificate of a fit or a table from the files, in exact arithmetic",
        "pairs:verify",
        "Check that the parameters of a fit link as many records of the two files as it says, "
        "and that no parameters link more than it says, by the proof in the certificate; or that a table is "
        "protected, by the certificate of its suppression or audit. Exact arithmetic, no tolerance. "
        "Exit code 1 when a check fails.",
        "example: verify fit.json --certificate proof.json --original o.csv --masked m.csv; of a table: "
        "verify proof.json.gz --cells internal.csv --relations relations.csv",
    ),
    "link": Command(
        "link two files by another linker, and count the right links",
        "pairs:link",
        "Link the records of two files by a linker that learns without the truth, and judge it "
        "as `fit` judges distances: a record is re-identified when its partner scores strictly highest.",
        "example: link --original o.csv --masked m.csv --method prl --one-to-one hungarian",
    ),
    "find-links": Command(
        "link two files of which nobody knows which record is which, in passes",
        "pairs:find_links",
        "Link the records of two files of which nobody knows which record is which, in passes; what is wrong "
        "and what is missed is estimated.",
        "example: find-links --original a.csv --masked b.csv --pass surname,town --links links.csv",
    ),
    "risk": Command(
        "every measure of a release beside its certified worst case, in one table with one verdict",
        "pairs:risk",
        "Take every measure of a release: the certified worst case of all families of distances, and what "
        "stands beside it. One table, one verdict.",
        "example: risk --original o.csv --masked m.csv --schema schema.toml --json risk.json",
    ),
    "report": Command(
        "the same as one page, with certificates; or the page of results that were saved",
        "pairs:report",
        "Take every measure of a release, certify its worst cases, check the certificates, and write all of "
        "it as one HTML page; or make the page again from JSON.",
        "example: report --original o.csv --masked m.csv --schema schema.toml --output report.html",
    ),
    "sweep": Command(
        "mask a file in many ways: risk and information loss of each, and which no other one dominates",
        "pairs:sweep",
        "Mask a file in many ways, and measure each release: certified worst case, held-out risk, "
        "information loss. One table, with the maskings that no other one dominates. A sweep that was "
        "stopped goes on where it was.",
    ),
    "mask": Command(
        "make a masked file from an original one",
        "microdata:mask",
        "Make a masked file. Columns that are not masked stay as they are, and so do the rows.",
    ),
    "unsafe": Command(
        "count unsafe combinations of key variables, and what recodings would make of them",
        "microdata:unsafe",
        "Count unsafe combinations of key variables, by variable and category, and say what trial recodings "
        "would make of them. Nothing is masked.",
        "example: unsafe --input people.csv --k 3 --recode 'top-coding categories=3 attributes=age'",
    ),
    "suppress": Command(
        "take the fewest values out of key variables that leave no unsafe combination, proven",
        "microdata:suppress",
        "Take the values of least cost out of key variables that leave no unsafe combination of them whole, "
        "with a bound that proves it. What is taken out becomes missing.",
        "example: suppress --input people.csv --keys town,sex,trade --k 3 --output safe.csv",
    ),
    "tables": Command(
        "make tables, protect them by suppression or rounding, proven, and audit any pattern",
        description="Tables as cells and the linear relations between them: made of microdata, "
        "protected such that nobody can compute a sensitive cell too closely, with a bound that proves it, "
        "and audited.",
        example="`%(prog)s ACTION --help` explains an action.",
    ),
    "tables make": Command(
        "make a table of microdata, with its sensitive cells",
        "tables:make",
        example="example: tables make --input firms.csv --by region,size --response turnover --rule p=10 "
        "--cells cells.csv --relations relations.csv",
        unchecked=("table",),
    ),
    "tables recode": Command(
        "make a table of coarser codes, and say what each recoding does to sensitive cells and costs",
        "tables:recode",
        example="example: tables recode --input firms.csv --by region,size --hierarchy region=tree.csv "
        "--rule frequency=3 --cut region=1",
    ),
    "tables suppress": Command(
        "suppress the cells of least cost that protect the sensitive ones, proven",
        "tables:suppress",
        example="example: tables suppress --cells cells.csv --relations relations.csv --output safe.csv",
    ),
    "tables audit": Command(
        "find what an attacker can compute of every suppressed cell; exit code 1 where it is too much",
        "tables:audit",
        example="example: tables audit --cells internal.csv --relations relations.csv",
    ),
    "tables run-batch": Command(
        "run a batch of ARGUS", "tables:run_batch", example="example: tables run-batch survey.arb"
    ),
    "tables round": Command(
        "make every cell a multiple of a base such that all relations hold, at the least change",
        "tables:round_cells",
        example="example: tables round --cells cells.csv --relations relations.csv --base 5 "
        "--output safe.csv",
    ),
    "tables adjust": Command(
        "change values as little as possible such that every sensitive cell is far enough off, proven",
        "tables:adjust",
        example="example: tables adjust --cells cells.csv --relations relations.csv --output adjusted.csv",
    ),
    "tables perturb-counts": Command(
        "count records with noise that is the same wherever the same records are counted",
        "tables:perturb_counts",
        example="example: tables perturb-counts --input p.csv --by region,sex --most 2 --variance 1 "
        "--output safe.csv",
    ),
    "tables perturb-sums": Command(
        "sum a variable with noise that is the same wherever the same records are summed",
        "tables:perturb_sums",
        example="example: tables perturb-sums --input firms.csv --by region,size --response turnover "
        "--share 0.1 --noise most=10,variance=3 --output safe.csv",
    ),
    "tables compare": Command(
        "solve the same model of a table on every backend, side by side, and count again",
        "tables:compare",
        example="example: tables compare --cells cells.csv --relations relations.csv --time-limit 10",
    ),
    "run-protocol": Command(
        "make the safe file that a protocol of steps describes, or undo its last steps",
        "microdata:run_protocol",
        "Make a file by the steps of a protocol: which commands masked and suppressed what, in which order, "
        "with which parameters and seeds. The same protocol makes the same file.",
        "example: run-protocol steps.toml --output safe.csv; one step back: --undo 1",
    ),
    "app": Command(
        "serve the local web application: data, masking, runs, reports",
        "services:app",
        "Serve the application for this machine: data, masking, runs whose bounds close before your eyes, "
        "reports. Open the address that is printed; it holds a token that nobody else has.",
        "example: app survey-2026",
    ),
    "describe": Command(
        "say what is in a file, and write a first guess of its schema",
        "services:describe",
        "Say what the columns of a file seem to be, and write that down as a schema, to be corrected by hand "
        "and given to the other commands as --schema. Values of columns that look like identifiers are not "
        "shown.",
        "example: describe survey.csv --output survey.toml",
    ),
    "datasets": Command(
        "list, show and fetch named public data",
        description="Named public data: installed with linkrisk, read from the folder in LINKRISK_DATA, or "
        "downloaded with a hash check into the cache (LINKRISK_CACHE names another folder for it).",
    ),
    "datasets list": Command("name all data sets and where they come from", "services:list_datasets"),
    "datasets show": Command("describe one data set", "services:show_dataset"),
    "datasets fetch": Command("bring one data set to this machine", "services:fetch_dataset"),
    "completion": Command(
        "print what a shell needs to complete commands, options and files",
        "completion:completion",
        "Print a script that has a shell offer commands, options, their choices and files when the tabulator "
        "is pressed. It is made from the options of this version: make it again after an update.",
        "examples: completion bash > ~/.local/share/bash-completion/completions/linkrisk; "
        "completion zsh > ~/.zfunc/_linkrisk, a folder of $fpath; "
        "completion fish > ~/.config/fish/completions/linkrisk.fish",
    ),
    "compile": Command(
        "compile ahead what the first run on a machine would compile",
        "services:compile_ahead",
        "Compile everything that the commands need, for every aggregator, and keep it; once for each machine "
        "and version. Without this, a fit compiles first, before its time limit begins.",
        "example: compile",
    ),
}
"""Every command in the order of the help, its actions behind it."""

COMMANDS = tuple(name for name in CATALOGUE if " " not in name)

READ_NO_DATA = ("app", "datasets", "completion", "compile")
"""Commands that read no files of their users."""

SEARCHING = ("fit", "risk", "report", "sweep", "tables suppress")
"""Commands that end with an interval when the application stops them, at whatever moment."""

"""Two ready tables of the same records, by region and size and by region and age, with common cells."""

from __future__ import annotations

from pathlib import Path

SIZES = {"small": (50, 60), "large": (70, 80)}
AGES = {"young": (30, 70), "old": (90, 70)}


def write_linked_tables(folder: Path) -> None:
    """Write ``by_size.csv`` and ``by_age.csv``, each with a sensitive cell in the North."""
    for name, parts, sensitive, level in (("size", SIZES, "large", 8), ("age", AGES, "young", 5)):
        lines = [f"region,{name},value,status,lower_protection,upper_protection"]
        for region, of in (("Total", (0, 1)), ("North", (0,)), ("South", (1,))):
            values = {code: sum(part[at] for at in of) for code, part in parts.items()}
            for code, value in {"Total": sum(values.values()), **values}.items():
                secret = (region, code) == ("North", sensitive)
                lines.append(f"{region},{code},{value}," + (f"u,{level},{level}" if secret else "s,,"))
        (folder / f"by_{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

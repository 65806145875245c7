"""Words of column names and labels that suggest a role, in several languages, and codes of surveys."""

from __future__ import annotations

import re
import unicodedata
from types import MappingProxyType

_HOUSEHOLD_ID, _PERSON_ID = "household id", "person id"
_HOUSEHOLD_WEIGHT, _PERSON_WEIGHT = "household weight", "person weight"

_SURVEY_CODES = MappingProxyType(
    {
        # EU-SILC: the files D, R, P and H
        **dict.fromkeys(("db030", "hb030", "rx030", "px030", "hx030", "rb040"), _HOUSEHOLD_ID),
        **dict.fromkeys(("rb030", "pb030"), _PERSON_ID),
        **dict.fromkeys(("db080", "db090", "db095"), _HOUSEHOLD_WEIGHT),
        **dict.fromkeys(("rb050", "rb060", "rb062", "rb063", "rb064", "rl070"), _PERSON_WEIGHT),
        **dict.fromkeys(("pb040", "pb050", "pb060", "pb070", "pb080"), _PERSON_WEIGHT),
        "db050": "stratum",
        # EU-LFS, household budgets and finances, structure of earnings, IPUMS, the European Social Survey
        **dict.fromkeys(("hhnum", "ha04", "sa0010"), _HOUSEHOLD_ID),
        **dict.fromkeys(("coeff", "coeffy", "coeffq", "coefmod", "coeffmod", "perwt"), _PERSON_WEIGHT),
        **dict.fromkeys(("coefhh", "coeffhh", "hhwt", "ha10", "hw0010"), _HOUSEHOLD_WEIGHT),
        **dict.fromkeys(("dweight", "pspwght", "pweight", "anweight", "spfwt0"), _PERSON_WEIGHT),
        **dict.fromkeys(("a51", "b51", "b52", "phrf", "hhrf"), "grossing weight"),
        **dict.fromkeys(("gew", "pgew"), _PERSON_WEIGHT),
        "hhgew": _HOUSEHOLD_WEIGHT,
    }
)
"""What columns of European and international surveys are, by the codes that they are named by."""

_TRANSLATED = MappingProxyType(
    {
        # German
        **dict.fromkeys(("haushalt", "haushalts", "haushalte", "hh"), "household"),
        **dict.fromkeys(("familie", "familien", "familia", "famiglia", "famille", "rodzina"), "family"),
        **dict.fromkeys(("personen", "persona", "personne", "pessoa", "persoon", "osoba"), "person"),
        **dict.fromkeys(("personal", "osoby", "persoons"), "person"),
        **dict.fromkeys(("betrieb", "betriebs", "unternehmen", "unternehmens", "empresa"), "firm"),
        **dict.fromkeys(("entreprise", "bedrijf", "bedrijfs", "impresa", "firma", "foretag"), "firm"),
        **dict.fromkeys(("gewicht", "gewichte", "gewichtung", "gewichts", "wichtung"), "weight"),
        **dict.fromkeys(("hochrechnungsfaktor", "hochrechnung", "hrf"), "grossing weight"),
        **dict.fromkeys(("gewichtungsfaktor", "pondera", "ponderador"), "sampling weight"),
        # A "Nummer" is an id, where "number of persons" counts.
        **dict.fromkeys(("nummer", "numero", "numer", "kennung", "kennnummer", "kennziffer"), "id"),
        "identnummer": "id",
        "identifiant": "id",
        **dict.fromkeys(("identificador", "identificativo", "identyfikator", "identificatie"), "id"),
        **dict.fromkeys(("laufnummer", "lfdnr", "satznummer", "satznr", "lopnr"), "record number"),
        **dict.fromkeys(("volgnummer", "consecutivo", "progressivo"), "record number"),
        **dict.fromkeys(("schicht", "strate", "estrato", "strato", "warstwa"), "stratum"),
        # French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish
        **dict.fromkeys(("menage", "foyer", "hogar", "vivienda", "agregado", "domicilio"), "household"),
        **dict.fromkeys(("huishouden", "huishoudens", "gospodarstwo", "gospodarstwa"), "household"),
        "huishoud": "household",
        **dict.fromkeys(("hushall", "hushalls", "husholdning", "kotitalous"), "household"),
        **dict.fromkeys(("poids", "peso", "waga", "wagi", "vikt", "vikter", "vekt"), "weight"),
        **dict.fromkeys(("ponderation", "ponderacion", "ponderazione", "ponderacao"), "sampling weight"),
        **dict.fromkeys(("weging", "weegfactor", "ophoogfactor", "facexp", "factorexp"), "sampling weight"),
        # Heights, beside which a weight is that of a body
        **dict.fromkeys(("altura", "estatura", "altezza", "taille", "groesse", "wzrost", "langd"), "height"),
        **dict.fromkeys(("koerpergroesse", "lengte", "talla"), "height"),
    }
)  # fmt: skip
"""Words of other languages, without accents, in English."""

_SILENT = frozenset(
    ("of", "the", "for", "der", "des", "die", "de", "la", "du", "del", "della", "van", "do", "da")
)
"""Words of labels that say nothing."""

PERSON_NAMES = frozenset(
    (
        *("surname", "lastname", "firstname", "forename", "forenames", "fullname", "givenname", "maidenname"),
        *("nachname", "familienname", "vorname", "vornamen", "zuname", "geburtsname"),
        *("prenom", "prenoms", "nomfamille", "nombres", "apellido", "apellidos", "cognome", "sobrenome"),
        *("apelido", "achternaam", "voornaam", "voornamen", "imie", "nazwisko", "efternamn", "fornamn"),
    )
)
"""Names of columns of names of persons, in small letters and without separators."""

CONTACTS = frozenset(
    (
        *("email", "mail", "phone", "telephone", "mobile", "telefon", "telefono", "telefone", "telefoon"),
        *("handy", "fax", "address", "adresse", "anschrift", "direccion", "indirizzo", "endereco", "adres"),
        *("adress", "street", "strasse", "calle", "rua", "straat", "ulica", "gata"),
        *("reisepass", "pasaporte", "passaporto", "dni", "nif", "codicefiscale", "pesel", "bsn"),
        *("personnummer", "sozialversicherungsnummer", "steuernummer"),
    )
)
"""Words in names of columns that say where or under which number somebody is found."""

NAMES = frozenset(("name", "names", "nom", "nombre", "nome", "naam", "nazwa", "namn"))
"""Words for a name: that of a person or firm where the values hardly repeat."""

MEASURES = frozenset(
    (
        *("age", "alter", "edad", "eta", "idade", "leeftijd", "wiek", "alder", "lebensalter", "jahre"),
        *("years", "year", "jahr", "annee", "ano", "anno", "jaar", "rok", "birth", "born", "geburtsjahr"),
        *("month", "day", "income", "einkommen", "revenu", "ingreso", "ingresos", "reddito", "rendimento"),
        *("inkomen", "dochod", "inkomst", "wage", "wages", "salary", "lohn", "gehalt", "salaire", "salario"),
        *("loon", "earnings", "turnover", "umsatz", "omzet", "revenue", "revenues", "sales", "profit"),
        *("gewinn", "assets", "debt", "price", "preis", "prix", "precio", "prezzo", "preco", "prijs", "cost"),
        *("costs", "kosten", "rent", "miete", "expenditure", "expenses", "ausgaben", "depenses", "gasto"),
        *("gastos", "amount", "betrag", "value", "wert", "valeur", "valor", "valore", "waarde", "sum"),
        *("total", "summe", "tax", "taxes", "size", "groesse", "taille", "tamano", "height", "weight"),
        *("length", "area", "flaeche", "surface", "days", "weeks", "months", "tage", "wochen", "monate"),
        *("jours", "mois", "dias", "meses", "giorni", "dagen", "hours", "stunden", "heures", "horas", "ore"),
        *("uren", "time", "duration", "dauer", "distance", "employees", "workers", "beschaeftigte"),
        *("persons", "personen", "members", "children", "kinder", "count", "anzahl", "zahl", "score", "rank"),
        *("rang", "grade", "rate", "ratio", "share", "percent", "capital", "population", "production"),
        *("output", "temperature", "pressure", "index", "bmi"),
    )
)
"""Words in names of columns that hold a measurement, which is no id whatever its values."""

_FIRST_OR_LAST = frozenset(("first", "last", "given", "middle", "family", "maiden", "full", "sur", "fore"))


def words_of(name: str) -> tuple[str, ...]:
    """Split a name or a label into English words in small letters.

    ``rec_id``, ``recId`` and ``REC.ID`` have the same two, ``Haushaltsnummer`` has household and number, and
    ``DB090``, a code of EU-SILC, household and weight. Numbers are none.
    """
    code = _SURVEY_CODES.get(name.strip().lower())
    if code is not None:
        return tuple(code.split())
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", _plain(name))
    return tuple(
        word for part in parts if part.lower() not in _SILENT for word in _translated(part.lower()).split()
    )


def names_a_person(name: str) -> bool:
    """Whether a column has the name of one of persons' names: surname, Vorname, first_name."""
    plain = tuple(part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", _plain(name)))
    joined = "".join(plain)
    return joined in PERSON_NAMES or (
        plain[-1:] == ("name",) and bool(_FIRST_OR_LAST.intersection(plain[:-1]))
    )


def _plain(name: str) -> str:
    """A name without accents."""
    spelled = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    return "".join(letter for letter in spelled if not unicodedata.combining(letter))


def _translated(word: str) -> str:
    """A word in English; of two that are written together, both."""
    if word in _TRANSLATED:
        return _TRANSLATED[word]
    for at in range(2, len(word) - 1):
        first, last = word[:at], word[at:]
        if first in _TRANSLATED and (last in _TRANSLATED or last in _LAST):
            return f"{_TRANSLATED[first]} {_TRANSLATED.get(last, last)}"
    return word


_LAST = frozenset(("nr", "id", "no", "number", "weight", "key"))
"""English or short words at the end of a word of two."""


ID_NAMES = frozenset(
    (
        *("id", "ident", "identifier", "identification", "pid", "uid", "uuid", "guid", "key", "record"),
        *("recid", "recordnumber", "recno", "recnum", "recnr", "rowid", "rowno", "rownum", "rownumber"),
        *("caseid", "caseno", "casenum", "casenr", "respid", "persid", "persnr", "personid", "patientid"),
        *("idno", "idnum", "idnr", "idcode", "serial", "serialno", "serialnumber", "serialnum", "row"),
        *("line", "lineno", "linenumber", "lfd", "lfdnr", "lfdno", "nr", "no", "unnamed", "rownames"),
    )
)
"""Names of record ids, in small letters and without separators."""

UNITS = frozenset(
    (
        *("household", "hh", "family", "fam", "dwelling", "person", "pers", "individual", "respondent"),
        *("firm", "company", "enterprise", "establishment", "holding", "farm", "school"),
    )
)
"""Whose weights a file may have."""

SHARED_IDS = UNITS | {"patient", "member", "student", "pupil", "employee", "employer", "customer", "client"}
SHARED_IDS |= {"account", "plant", "utility", "h"}
"""Whose ids several records may share: persons of a household, months of a firm."""

ID_OF = re.compile(r"(?P<whose>.*?)_?(id|ident|num|number|nr|no|serial|key)")

WEIGHT = re.compile(r"(?P<before>.*?)(?P<name>weights?|wgts?|wgh|wght|wts?|gewicht|poids)")

SAMPLING = frozenset(
    (
        *("sampling", "sample", "survey", "design", "base", "basic", "final", "grossing", "raising", "pop"),
        *("expansion", "calibrated", "calibration", "nonresponse", "replicate", "rep", "population"),
        *("record", "analysis", "analytic", "normalised", "normalized", "frequency", "inverse", "prob"),
        *("probability", "cross", "sectional", "longitudinal", "post", "stratification", "strat", "year"),
        *("per", "p", "h"),
        *UNITS,
    )
)
"""What may stand beside "weight" in the name of a sampling weight: body_weight and fnlwgt are none."""

BODY = frozenset(("height", "stature", "bmi", "waist", "pulse", "systolic", "diastolic", "cholesterol"))
"""Beside one of these a weight is that of a body."""

MEMBERS = frozenset(("person", "pers", "individual", "member"))
"""Of whom a household has several, with the numbers 1, 2, 3."""

COUNTED = frozenset(("num", "number", "nr", "no"))
"""Behind a unit these are an id (person_no); before it they count (no_persons)."""

HOUSEHOLDS = frozenset(("household", "hh", "family", "fam", "dwelling", "h"))
"""Whose ids say which persons live together."""

PERSONAL_NUMBERS = frozenset(
    (
        *("ssn", "social", "security", "soc", "sec", "nino", "passport", "tax", "vat", "national"),
        *("phone", "telephone", "mobile", "email", "mail", "iban", "licence", "license", "insurance"),
    )
)
"""In the names of numbers that people have outside of the file too, and which identify them directly."""

STRATA = frozenset(("stratum", "strata", "strat", "strate", "strates", "schicht", "estrato", "stratumid"))
"""Names of strata, in small letters and without separators."""

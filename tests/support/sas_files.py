"""A small SAS file: no library writes one."""

from __future__ import annotations

import base64
import zlib

_CONTENT = (
    "c-muNK!8K98WT2)2%g_NiGzXjxM7ckynvvw5`(cZBa<N`M2QFk12ZFvxG|%$F@uN*g90-n%$#7yU<Ef%A6FO05XWHG5CvR-fdByM"
    "hpFrQmUjPD$$du{jiFcof*H|-E%gjc3=DlueKPY(E0DyE^$ZR440H_*%?$Jm4fPDsjjOOQi#Ibt@Im$--"
    "NCsFhSAl}*mdV0vO5_@!6+C7qhJ(_f>AIEM!_f;1*2dTjDkS~W<vX|=zyOc%3$JW;097RcpzL2W>j?tpyCo}`ZKs7bOaNsxCB%@0"
    "44zKus`91&?ac&Goa!=XyOS_aSJqY1*o_KntL8_U>9FNKpf3@C@_I5H!v_q3}iG|Ld8GWqYQBD`%w?3FaD@EFf>AlUxbP?a5x-"
    "ZLd1Z`C>RB!U=)mkQ7}Tlzu*7C09~9Dhk6SJ7NYdy2RaPw6zNB@AEN!g3Y0GcrI~?{kpb42`v0Ga0kvWE2dWR&z7c@ZtRR8~(WnA"
    "9Q&<=oIMDdW0BY2KMEgPoYMTa>HbJwUf#EMyj}1ad1bzMnJiim-8c>i^#gLeu%HUpfc-"
    "!ImsSGKJm7uvBS8N`FnFos{b{eG{9(L4lgoOwjT6>NS&A*Ij?nCGQM^nd&rj8XY-Wk#SiOz>6FM{do7m@0I{--"
    "Rx4mI!%2q5_h6?_K*a7!G@=S7njG*Ck6x3J(aAKhFT^zuglRo)LRo%|nR@j<KpD5(IJ&zR8oTxfhAG(JBXpMz#T<v>bvB1rb|fY~"
    "xc+ROrUDX1PnEk{=%$>R(fFaQ8QSNRt"
)


def sas_file() -> bytes:
    """Four records, as the C library ReadStat (of pyreadstat) writes them to a file of version 9.

    ``plz`` is text (007, blank, 012, ä). ``age`` has the label Größe and the values 20, 25.5, a missing one
    with the letter A and one without. ``day`` has the format DATE9 and the days 0, 1 and 3 from 1960 on.
    """
    return zlib.decompress(base64.b85decode(_CONTENT))

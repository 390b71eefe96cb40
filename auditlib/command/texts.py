"""What the help says, with examples that run."""

from __future__ import annotations

FOUR = """\
The four questions
  1 Could chance have made it?         the gap in sensitivity, with Newcombe's interval
  2 Is it prevalence?                  the gap in PPV, as it is and at one prevalence for both groups
  3 Does it depend on the threshold?   the gap along thresholds, with a band for all of them together
  4 Does it depend on the analyst?     the gap under other choices: how many leave it on which side of zero
"""

HOLDS = """\
What the folder holds
  result_card.html   the card: one page to share, to print on A4, without links to anywhere
  results.json       all numbers, undefined being null; auditlib/card/results.schema.json says what each is
  counts.csv         the counts behind the first attribute (counts-2.csv: behind the second, …); no patient rows,
                     but a cell with few people may need care before it is shared
  figures/           the card's figures as SVG
  summary.md         the findings as text, and three follow-ups
"""

TOP = f"""\
usage: auditlib COMMAND [options]

Is that subgroup gap real? From predictions, counts or confusion matrices to a result card.

commands
  audit   audit a model of your own: a table of predictions, count tables, or confusion matrices
  gap     the gap audit of a public cohort of the book
  check   check an output folder again

Three worked examples
  Confusion matrices, as Group:TP,FP,TN,FN:
    auditlib audit --confusion "Women:80,40,800,30; Men:120,90,700,25" --out matrices
  A table with one row a person: the outcome, the predicted risk, and groups:
    auditlib audit preds.csv --label died --score risk --by sex --by race --site hospital
  The book's gap audit between two age groups, then its folder checked:
    auditlib gap --dataset cdc_diabetes --attribute age --out gap-age
    auditlib check gap-age

{FOUR}
{HOLDS}
auditlib COMMAND --help tells the options of each. Status: 0 done, 1 a check failed, 2 input that cannot be used,
130 interrupted.
"""

AUDIT = """\
Audit a model of your own. FILE is one of
  - a table of rows (CSV with any delimiter, also compressed; Parquet), with --label, --score and --by
  - count tables that Counts.to_csv wrote, whose first line is "# auditlib-counts 1"; several are added
or leave FILE out and give --confusion.
"""

AUDIT_MORE = f"""\
Examples
  auditlib audit preds.csv --label died --score risk --by sex
  auditlib audit preds.csv --label died --score risk --by race --by sex --site hospital --threshold top20
  auditlib audit preds.csv --label died --score risk --by race --lam "Black=0.2,White=0.3,Asian=0.3" --out who-gains
  auditlib audit north.csv south.csv --site hospital
  auditlib audit --confusion "Women:80,40,800,30; Men:120,90,700,25" --lam 0.3 --benefit-threshold 0.1

{FOUR}
{HOLDS}"""

GAP = """\
The gap audit of a public cohort of the book. The book's committed counts answer at once; other age bands, another
model, --refit, or a threshold that those counts lack fit a model anew, for which the cohort is downloaded if need be.
"""

GAP_MORE = f"""\
Examples
  auditlib gap --dataset cdc_diabetes --attribute sex
  auditlib gap --dataset diabetes130 --attribute age --group-a "60+" --group-b "10–29" --threshold top20
  auditlib gap --dataset cdc_diabetes --attribute age --age-bands "18–24 v 80+" --max-rows 20000 --out other-bands
  auditlib gap --params params.json

{FOUR}
{HOLDS}"""

CHECK = """\
Check an output folder again, and write what was found to validation_report.json in it. Status 0: all passes; 1: some
fails; 2: there is no folder with results.

The checks
  files        all files that results.json implies are there, and no others
  json         results.json is JSON without NaN or Infinity
  schema       every field is what results.schema.json says
  text         no sentence is missing, too long, or other than the numbers give; summary.md is that of the results
  follow-ups   three, of known options, for the same input, whose commands can be run
  numbers      every number of headline and tiles stands in the results
  counts       counts.csv gives the results again, as far as it goes
  card         the page and its figures are what results.json gives, and load nothing from elsewhere
"""

CHECK_MORE = """\
Example
  auditlib check audit-card
"""

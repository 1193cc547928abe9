"""The look of the page: light and dark, phone and desktop, screen and paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d9dee3;
  --paper: #ffffff; --card: #f6f8fa; --good: #1a7f37; --bad: #c0262d; --warn: #8a5a00;
  --link: #0b5cad;  --one: #8c959f; --two: #3b82c4; --three: #7d5fb2; --four: #c98a2b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4ae; --line: #30363d;
  --paper: #0d1117; --card: #161b22; --good: #4cc166; --bad: #ff7b72; --warn: #d8a73a;
  --link: #7ab8ff;  --one: #6e7681; --two: #58a6ff; --three: #a98ee0; --four: #e0a84a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.25rem; max-width: 68rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 0; }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
.soft { color: var(--soft); }
a { color: var(--link); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));
  gap: .6rem; margin: 1rem 0; }
.figure { background: var(--card); border-radius: .5rem; padding: .5rem .75rem; }
.figure b { display: block; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.figure span { font-size: .8rem; color: var(--soft); }
ul { margin: .25rem 0; padding-left: 1.2rem; }
code, pre { font: .85rem/1.45 ui-monospace, monospace; }
h2 code, h3 code { font-weight: inherit; }
pre { background: var(--card); padding: .75rem; border-radius: .5rem; white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td:not(:last-child), th { white-space: nowrap; overflow-wrap: normal; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { display: block; width: 100%; overflow: visible; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
svg .soft, svg .label { fill: var(--soft); }
.one { fill: var(--one); } .two { fill: var(--two); } .three { fill: var(--three); }
.four { fill: var(--four); }
.spread { stroke: var(--ink); stroke-width: 1.5; fill: none; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; }
.legend i { display: inline-block; width: .75rem; height: .75rem; border-radius: .15rem;
  margin-right: .35rem; vertical-align: -1px; }
.legend .one { background: var(--one); } .legend .two { background: var(--two); }
.legend .three { background: var(--three); } .legend .four { background: var(--four); }
@media (max-width: 36rem) { body { padding: .75rem; } }
@media print { body { max-width: none; font-size: 11pt; } svg { max-width: 34rem; }
  h2, h3 { break-after: avoid; } svg, .figures, .legend, tr { break-inside: avoid; } }
"""

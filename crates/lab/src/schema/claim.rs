//! What the page on claims says before its tables.

/// `{rules}` stands for what does not go together.
pub(super) const ABOUT: &str = "\
A claim is a question about the results, with the answer that a document gives and the range in which ours has to lie.
This page has all of its keys; another one is refused, with the nearest right name. [Results](../results.md#a-verdict)
describes the verdict that is written.

## What a claim says

| key | what it is |
|---|---|
| `id`, `says`, `source` | which claim it is, the statement in words, and the place in the document |
| `reported` | the document's figure, or its words; only shown beside ours |
| `holds` | the range in which our figure has to lie, with its unit |
| `full` | `--quick` does not rule on it |
| `better` | the side of that range on which ours is better than the document says |
| `headline` | one of the statements for which the document stands |
| `statement` | whose statement it is, if not the document's |
| `why`, `cause` | why it does not hold, and where the difference comes from |

## How its figure is computed

In this order. A step applies if its key is present, or by its default; it is the same for every seed until `seeds`.

| key | step |
|---|---|
| `where` | chooses the cases of the sweep |
| `measure` | takes results of each case: one value for every flow or node that the path names |
| `series` | takes one value of a time series instead, for every series that `measure` names |
| `together` | makes one value of those of a case |
| `first` | makes one value of all cases along an axis: where they first come near the largest or fulfil a condition. With `steps` along the same axis: where their steps do |
| `against` `choose` `reaching` | finds the case that ours is compared with, run with the same seed |
| `than` | compares with another result, of the case of `against` or of the same case |
| `compare` | takes the difference, the ratio or the correlation of the two |
| `groups` `formula` | instead: makes one value of the cases of several groups, by arithmetic on their names |
| `steps` | takes the difference (or the ratio) of neighbours along an axis |
| `statistic` | makes one number of all values of a seed; with `each` every value is ruled on by itself |
| `share_of_runs` | makes it 1 if a condition holds and 0 if not |
| `seeds` | rules on the numbers of the seeds: by their mean, by the worst, by their spread |

All flows and cases of one seed become one number before seeds are averaged, because only seeds are independent.

## What does not go together

A key that would be ignored is refused with one of these sentences:

{rules}
## How a claim is ruled on

- A mean over the seeds **holds** if all of its 95 % interval lies in the range, **differs** if none of it does, and is
  **not confirmed** if the interval contains a border. If the scenario has one seed there is no interval, and the value
  decides.
- A statement of the kind *never, always, within, largest* is judged by the worst seed: `seeds = \"every\"`.
- \"Zero\" means no packet in the median seed and at most 0.003 % over all seeds, for every flow and case:
  `holds = \"zero\"`.
- An **order** is a difference whose sign is the same everywhere: `against` another case or `steps` along an axis, with
  `statistic = \"each\"`: every difference, taken with the same seed on both sides, has its own interval, and all of them
  have to hold.
- With `--quick`, with fewer seeds than the scenario has or with a shorter `duration`, a verdict may be weaker but never
  different: a claim about every seed that no seed refutes is then not confirmed, and neither is a mean of one seed; a
  claim with `full = true`, or about a time after the end or a case that is left out, **needs full runs**.
- Settings and neighbouring choices: see [the scenario file](README.md#settings-and-neighbours).

";

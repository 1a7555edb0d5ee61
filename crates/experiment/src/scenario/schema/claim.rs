//! Introduction of the page on claims, before its tables.

pub(super) const ABOUT: &str = "\
A claim gives a number and the window in which it must lie. The number is computed in the order of the keys below, from
`where` to `share_of_runs`: cases, their results, comparisons, one number per seed. All flows and cases of one seed
become one number before seeds are averaged, because only seeds are independent.

- The mean over the seeds **holds** if its 95 % interval lies in the window, **differs** if the interval lies outside,
  and is **not confirmed** if it contains a border. With one seed the value decides. It has **too few seeds** if fewer
  were run than the scenario asks for and the others can change the verdict.
- An **order** is a difference with the same sign everywhere: `against` or `steps`, with `statistic = \"each\"`.
- `--quick`, fewer seeds or a shorter `duration` may weaken a verdict and never change it. A claim with `full = true`,
  or about a time or a case that was not run, **needs full runs**.
- A choice that a document leaves open is an axis of `[vary]`; `[rulings]` rules on the claims within each of its labels
  (`each = \"access\"`), or shows neighbouring choices beside a verdict:

```toml
[[rulings.neighbour]]
parameter = \"T\"
axis = \"scheme\"
label = \"SWAN\"
instead = [\"SWAN, T = 0.1 s\", \"SWAN, T = 0.5 s\"]
```

[Results](../results.md#a-verdict) describes the verdict; `sluice claims` shows those on record.

";

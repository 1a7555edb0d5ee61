//! Arithmetic on results: `nodes.ap.mac.attempts / sum(nodes.*.mac.attempts)`.

use crate::study::Unit;
use std::collections::BTreeSet;
use std::iter;

/// The values of one flow or node, one for each step; a result that is not a series has one step. `None`: the step has
/// no measurements.
pub(crate) type Column = Vec<Option<f64>>;

/// A result, or a value computed from several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Number(f64),
    Path(String),
    Of(Function, Vec<Self>),
    Both(Box<Self>, Operator, Box<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Sum,
    Mean,
    Max,
    Min,
    Jain,
    Abs,
    /// The series one step earlier; a result that is not a series then has no value.
    Before,
}

const FUNCTIONS: [(&str, Function); 7] = [
    ("sum", Function::Sum),
    ("mean", Function::Mean),
    ("max", Function::Max),
    ("min", Function::Min),
    ("jain", Function::Jain),
    ("abs", Function::Abs),
    ("before", Function::Before),
];

impl Expression {
    /// Reads an expression. A text without functions, parentheses and operators between spaces is taken as a path.
    /// Errors: the part that cannot be understood.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let spaced = |sign: &str| text.contains(sign);
        if !text.contains(['(', ')', '\'']) && ![" + ", " - ", " * ", " / "].into_iter().any(spaced) {
            return Ok(Self::Path(text.to_owned()));
        }
        let tokens = tokens(text)?;
        let mut parser = Parser { text, tokens: &tokens };
        let expression = parser.sum()?;
        if parser.tokens.is_empty() { Ok(expression) } else { Err(parser.wrong()) }
    }

    pub(crate) fn paths(&self) -> BTreeSet<&str> {
        match self {
            Self::Number(_) => BTreeSet::new(),
            Self::Path(path) => BTreeSet::from([path.as_str()]),
            Self::Of(_, of) => of.iter().flat_map(Self::paths).collect(),
            Self::Both(left, _, right) => left.paths().union(&right.paths()).copied().collect(),
        }
    }

    /// Returns the expression's values, one per flow or node; `of` gives the values at a path. Equally long lists are
    /// combined element by element, and a single value with each element; lists of different lengths cannot be.
    pub(crate) fn values(&self, of: &dyn Fn(&str) -> Vec<Column>) -> Vec<Column> {
        match self {
            Self::Number(value) => vec![vec![Some(*value)]],
            Self::Path(path) => of(path),
            Self::Of(function, arguments) => match arguments.as_slice() {
                [one] => function.of_one(&one.values(of)),
                [left, right] => joined(&left.values(of), &right.values(of), |a, b| Some(function.of_values(&[a, b]))),
                _ => Vec::new(),
            },
            Self::Both(left, operator, right) => {
                joined(&left.values(of), &right.values(of), |a, b| operator.apply(a, b))
            }
        }
    }

    /// Returns the names of the flows or nodes of the expression's values; `of` gives the names at a path.
    pub(crate) fn names(&self, of: &dyn Fn(&str) -> Vec<String>) -> Vec<String> {
        let longer = |a: Vec<String>, b: Vec<String>| if b.len() > a.len() || a == [""] { b } else { a };
        match self {
            Self::Number(_) => vec![String::new()],
            Self::Path(path) => of(path),
            Self::Of(Function::Abs | Function::Before, of_one) => of_one.iter().flat_map(|one| one.names(of)).collect(),
            Self::Of(_, arguments) => match arguments.as_slice() {
                [left, right] => longer(left.names(of), right.names(of)),
                _ => vec![String::new()],
            },
            Self::Both(left, _, right) => longer(left.names(of), right.names(of)),
        }
    }

    /// Returns the unit of the expression's values, as far as the keys determine it.
    pub(crate) fn unit(&self) -> Unit {
        self.unit_of(&Unit::of)
    }

    /// Returns the unit of the expression's values; `of` gives the unit of a path.
    pub(crate) fn unit_of(&self, of: &dyn Fn(&str) -> Unit) -> Unit {
        match self {
            Self::Number(_) => Unit::Number,
            Self::Path(path) => of(path),
            Self::Of(Function::Jain, _) => Unit::Share,
            Self::Of(_, arguments) => arguments.first().map_or(Unit::Number, |first| first.unit_of(of)),
            // A factor may have any unit: `goodput / 2.25e6` is a ratio of rates.
            Self::Both(left, operator, right) => match (operator, left.unit_of(of), right.unit_of(of)) {
                (Operator::Plus | Operator::Minus, Unit::Number, unit)
                | (Operator::Plus | Operator::Minus, unit, _) => unit,
                (Operator::Times | Operator::Over, ..) => Unit::Number,
            },
        }
    }
}

impl Operator {
    /// Returns the result; `None` for a division by zero.
    fn apply(self, a: f64, b: f64) -> Option<f64> {
        match self {
            Self::Plus => Some(a + b),
            Self::Minus => Some(a - b),
            Self::Times => Some(a * b),
            Self::Over => (b != 0.0).then(|| a / b),
        }
    }
}

impl Function {
    /// Applies the function, step by step, over the flows or nodes with a value in the step.
    fn of_one(self, columns: &[Column]) -> Vec<Column> {
        match self {
            Self::Abs => {
                return columns.iter().map(|column| column.iter().map(|value| value.map(f64::abs)).collect()).collect();
            }
            Self::Before => {
                let earlier =
                    |column: &Column| iter::once(None).chain(column.iter().copied()).take(column.len()).collect();
                return columns.iter().map(earlier).collect();
            }
            _ => {}
        }
        let steps = columns.iter().map(Vec::len).max().unwrap_or(0);
        let of_step = |step: usize| {
            let values: Vec<f64> = columns.iter().filter_map(|column| *column.get(step)?).collect();
            (!values.is_empty()).then(|| self.of_values(&values))
        };
        vec![(0..steps).map(of_step).collect()]
    }

    fn of_values(self, values: &[f64]) -> f64 {
        let sum: f64 = values.iter().sum();
        let n = values.len() as f64;
        match self {
            Self::Sum => sum,
            Self::Mean => sum / n,
            Self::Max => super::extreme(values.iter().copied(), f64::max),
            Self::Min => super::extreme(values.iter().copied(), f64::min),
            Self::Jain => sum * sum / (n * values.iter().map(|value| value * value).sum::<f64>()),
            Self::Abs => sum.abs(),
            Self::Before => f64::NAN,
        }
    }

    fn most_arguments(self) -> usize {
        if matches!(self, Self::Max | Self::Min) { 2 } else { 1 }
    }
}

fn joined(left: &[Column], right: &[Column], with: impl Fn(f64, f64) -> Option<f64>) -> Vec<Column> {
    let of_columns = |(left, right): (&Column, &Column)| -> Column {
        let steps = if left.len() == 1 { right.len() } else { left.len() };
        let at = |column: &Column, step: usize| column.get(if column.len() == 1 { 0 } else { step }).copied().flatten();
        (0..steps).map(|step| with(at(left, step)?, at(right, step)?)).collect()
    };
    match (left, right) {
        ([one], many) => many.iter().map(|other| of_columns((one, other))).collect(),
        (many, [one]) => many.iter().map(|other| of_columns((other, one))).collect(),
        _ if left.len() == right.len() => left.iter().zip(right).map(of_columns).collect(),
        _ => Vec::new(),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    /// A parenthesis, a comma or an operator.
    Sign(char),
}

/// Splits a text into tokens. Operators need spaces around them, because names contain dashes and paths stars.
fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if matches!(first, '(' | ')' | ',') {
            tokens.push(Token::Sign(first));
            rest = rest[1..].trim_start();
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let (word, after) = quoted.split_once('\'').ok_or_else(|| format!("`{text}` lacks a closing quote"))?;
            tokens.push(Token::Word(word));
            rest = after.trim_start();
        } else {
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',')).unwrap_or(rest.len());
            tokens.push(match &rest[..end] {
                "+" | "-" | "*" | "/" => Token::Sign(first),
                word => Token::Word(word),
            });
            rest = rest[end..].trim_start();
        }
    }
    Ok(tokens)
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token<'t>],
}

impl Parser<'_> {
    fn wrong(&self) -> String {
        let at = match self.tokens.first() {
            None => "its end".to_owned(),
            Some(Token::Word(word)) => format!("`{word}`"),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        };
        format!("`{}` cannot be parsed at {at}: write `a / sum(b)`, with spaces around `+ - * /`", self.text)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.chain(&[('+', Operator::Plus), ('-', Operator::Minus)], Self::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.chain(&[('*', Operator::Times), ('/', Operator::Over)], Self::factor)
    }

    fn chain(
        &mut self,
        operators: &[(char, Operator)],
        part: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = part(self)?;
        while let Some(&(_, operator)) =
            operators.iter().find(|(sign, _)| self.tokens.first() == Some(&Token::Sign(*sign)))
        {
            self.tokens = &self.tokens[1..];
            left = Expression::Both(Box::new(left), operator, Box::new(part(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        let wrong = self.wrong();
        let (first, rest) = self.tokens.split_first().ok_or_else(|| wrong.clone())?;
        self.tokens = rest;
        match first {
            Token::Sign('(') => {
                let inner = self.sum()?;
                self.close()?;
                Ok(inner)
            }
            Token::Sign(_) => Err(wrong),
            Token::Word(name) if rest.first() == Some(&Token::Sign('(')) => self.function(name),
            Token::Word(word) => match word.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Expression::Number(value)),
                _ => Ok(Expression::Path((*word).to_owned())),
            },
        }
    }

    fn function(&mut self, name: &str) -> Result<Expression, String> {
        let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(known, _)| *known).collect();
            return Err(format!("`{name}` is not a function: expected {}", known.join(", ")));
        };
        self.tokens = &self.tokens[1..];
        let mut arguments = vec![self.sum()?];
        while self.tokens.first() == Some(&Token::Sign(',')) {
            self.tokens = &self.tokens[1..];
            arguments.push(self.sum()?);
        }
        self.close()?;
        if arguments.len() <= function.most_arguments() {
            return Ok(Expression::Of(*function, arguments));
        }
        Err(format!("`{name}` has {} arguments; the maximum is {}", arguments.len(), function.most_arguments()))
    }

    fn close(&mut self) -> Result<(), String> {
        match self.tokens.split_first() {
            Some((Token::Sign(')'), rest)) => {
                self.tokens = rest;
                Ok(())
            }
            _ => Err(self.wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of a test: `a` has the value 2, `b` the values 1, 2 and 3; `c` is a series with a gap.
    fn results(path: &str) -> Vec<Column> {
        match path {
            "a" => vec![vec![Some(2.0)]],
            "b-*" => vec![vec![Some(1.0)], vec![Some(2.0)], vec![Some(3.0)]],
            "c x" => vec![vec![Some(4.0), None, Some(8.0)]],
            _ => Vec::new(),
        }
    }

    fn value(text: &str) -> Vec<Column> {
        Expression::parse(text).unwrap().values(&results)
    }

    fn single(text: &str) -> f64 {
        let values = value(text);
        assert_eq!(values.len(), 1, "{text}: {values:?}");
        values[0][0].unwrap()
    }

    fn assert_near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-12, "{left} is not {right}");
    }

    #[test]
    fn a_plain_path_is_itself() {
        assert_eq!(Expression::parse("nodes.ap be.limit"), Ok(Expression::Path("nodes.ap be.limit".to_owned())));
        assert_eq!(value("b-*").len(), 3);
    }

    #[test]
    fn products_bind_before_sums_and_from_the_left() {
        assert_near(single("a + 3 * a - 1"), 7.0);
        assert_near(single("(a + 3) * (a - 1)"), 5.0);
        assert_near(single("12 / 2 / 3"), 2.0);
        assert_near(single("10 - 4 - 3"), 3.0);
    }

    #[test]
    fn one_value_goes_with_each_and_lists_go_together() {
        let columns = |values: &[f64]| values.iter().map(|value| vec![Some(*value)]).collect::<Vec<_>>();
        assert_eq!(value("b-* * a"), columns(&[2.0, 4.0, 6.0]));
        assert_eq!(value("b-* - b-*"), columns(&[0.0, 0.0, 0.0]));
        assert_eq!(value("max(b-*, a)"), columns(&[2.0, 2.0, 3.0]));
        assert_eq!(value("abs(a - b-*)"), columns(&[1.0, 0.0, 1.0]));
    }

    #[test]
    fn functions_go_over_flows_or_nodes() {
        assert_near(single("sum(b-*)"), 6.0);
        assert_near(single("max(b-*) - min(b-*)"), 2.0);
        assert_near(single("mean(b-*) / a"), 1.0);
        // 36 / (3 * 14).
        assert_near(single("jain(b-*)"), 36.0 / 42.0);
    }

    #[test]
    fn series_are_taken_step_by_step() {
        assert_eq!(value("before('c x')"), [vec![None, Some(4.0), None]]);
        assert_eq!(value("a - before('c x')"), [vec![None, Some(-2.0), None]]);
        assert_eq!(value("'c x' / 4"), [vec![Some(1.0), None, Some(2.0)]]);
        assert_eq!(value("1 / ('c x' - 4)"), [vec![None, None, Some(0.25)]], "a ratio to zero has no value");
    }

    #[test]
    fn values_have_the_names_of_the_longer_list() {
        let names = |path: &str| if path == "a" { vec![String::new()] } else { vec!["x".to_owned(), "y".to_owned()] };
        assert_eq!(Expression::parse("a / b").unwrap().names(&names), ["x", "y"]);
        assert_eq!(Expression::parse("sum(b)").unwrap().names(&names), [""]);
    }

    #[test]
    fn units_follow_the_arithmetic() {
        let unit = |text: &str| Expression::parse(text).unwrap().unit();
        assert_eq!(unit("flows.a.delay_s.max - 0.2"), Unit::Seconds);
        assert_eq!(unit("sum(flows.*.goodput_bps) / 2.25e6"), Unit::Number);
        assert_eq!(unit("flows.a.delay_s.max / flows.b.delay_s.max"), Unit::Number);
        assert_eq!(unit("jain(flows.*.goodput_bps)"), Unit::Share);
    }

    #[test]
    fn says_what_cannot_be_read() {
        for (text, says) in [
            ("a + ", "its end"),
            ("(a + 1", "its end"),
            ("a b + 1", "`b`"),
            ("log(a)", "is not a function"),
            ("sum(a, 1)", "has 2 arguments; the maximum is 1"),
            ("'a + 1", "lacks a closing quote"),
            ("a + * b", "`*`"),
        ] {
            let error = Expression::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}

//! TOML with the line of every key: messages about a file name the place.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads TOML; gives JSON with its `value`, and under `lines` the line of each key by its path
/// (`requests.0.name`). Raises `ValueError`, whose text begins with the line and a colon.
#[pyfunction]
pub(crate) fn read_toml(text: &str) -> PyResult<String> {
    let starts = LineStarts::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        PyValueError::new_err(format!("{}:{}", starts.line_of(at), error.message()))
    })?;
    let mut lines = Map::new();
    let value = of_table(table.get_ref(), "", &starts, &mut lines)?;
    Ok(json!({ "value": value, "lines": lines }).to_string())
}

/// Where each line but the first begins, in ascending order.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// The line of a byte, from 1 on.
    fn line_of(&self, at: usize) -> usize {
        1 + self.0.partition_point(|start| *start <= at)
    }
}

fn of_table(
    table: &DeTable<'_>,
    place: &str,
    starts: &LineStarts,
    lines: &mut Map<String, Value>,
) -> PyResult<Value> {
    let mut members = Map::new();
    for (key, value) in table {
        let name = key.get_ref().to_string();
        let path = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        lines.insert(path.clone(), starts.line_of(key.span().start).into());
        members.insert(name, of_value(value, &path, starts, lines)?);
    }
    Ok(Value::Object(members))
}

fn of_value(
    value: &Spanned<DeValue<'_>>,
    place: &str,
    starts: &LineStarts,
    lines: &mut Map<String, Value>,
) -> PyResult<Value> {
    let line = starts.line_of(value.span().start);
    let wrong =
        |what: &str| PyValueError::new_err(format!("{line}:{place}: {what} cannot be read"));
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            parsed.map(Value::from).map_err(|_| wrong(number.as_str()))?
        }
        DeValue::Float(number) => {
            let parsed = number.as_str().parse::<f64>().ok();
            // JSON has no infinity.
            let parsed = parsed.and_then(serde_json::Number::from_f64);
            parsed.map(Value::Number).ok_or_else(|| wrong(number.as_str()))?
        }
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => {
            let mut found = Vec::new();
            for (number, item) in items.iter().enumerate() {
                let path = format!("{place}.{number}");
                lines.insert(path.clone(), starts.line_of(item.span().start).into());
                found.push(of_value(item, &path, starts, lines)?);
            }
            Value::Array(found)
        }
        DeValue::Table(table) => of_table(table, place, starts, lines)?,
    })
}

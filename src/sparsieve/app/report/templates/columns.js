/* Columns as the page holds them, and numbers as readers want them. ------------------------ */
function embedded(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

const known = embedded("profiles");  // null where the report is not about features

// The forms of a column, see packing.py. Features come back with their places among the profiles.
function unpack(column) {
  if (column.features) {
    const features = unpack(column.features).values;
    return { values: features.map((place) => known.names[place]), features };
  }
  if ("count" in column) {
    return { values: Array.from({ length: column.count }, (_, i) => column.first + i) };
  }
  if (column.runs) {
    const values = [];
    for (let i = 0; i < column.runs.length; i += 2) {
      for (let n = column.runs[i + 1]; n > 0; n--) values.push(column.names[column.runs[i]]);
    }
    return { values };
  }
  return { values: column.names ? column.values.map((place) => column.names[place]) : column.values };
}

function shown(value, digits) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) {
    return Math.abs(value) >= 10000 ? value.toLocaleString("en-US") : String(value);
  }
  const size = Number(value.toExponential(digits - 1).split("e")[1]);
  if (size >= -4 && size < digits) return String(Number(value.toPrecision(digits)));
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  return `${Number(mantissa)}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

function make(kind, content, attributes) {
  const element = document.createElement(kind);
  if (content !== undefined) element.textContent = content;
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  return element;
}

// Names may be broken at humps, underscores and the like; the same places as in html.py.
function breakable(element, text) {
  text.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[_/:|;\\])(?=\S)|(?<=[.,-])(?=[^\s\d])/).forEach((part, i) => {
    if (i) element.append(document.createElement("wbr"));
    element.append(part);
  });
  return element;
}

function featureButton(name, place) {
  return breakable(make("button", undefined, { type: "button", class: "feature", "data-feature": place }), name);
}

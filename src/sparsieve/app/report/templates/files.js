/* Files for the reader. ---------------------------------------------------------------------- */

// Spreadsheets run text that begins like this; an apostrophe in front makes it text again.
const FORMULA = /^[=+\-@\t\r]/;

function csvCell(cell) {
  let text = cell === null || cell === undefined ? "" : String(cell);
  const isNumber = typeof cell === "number" || (text.trim() !== "" && Number.isFinite(Number(text)));
  if (!isNumber && FORMULA.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function saveTable(lines, name) {
  const text = lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
  download(URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" })), name);
}

function download(address, name) {
  const link = make("a", undefined, { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  if (address.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(address), 10000);
}

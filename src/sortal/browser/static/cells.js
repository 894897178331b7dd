// What is typed into a field for a number or a date. Functions alone, which a page may have twice.
function readNumber(text) {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN;
}

// Days since 1970; a bare number could be a year, and is none.
function readDays(text) {
  const moment = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?$/;
  const found = moment.exec(text);
  if (!found) return / days$/.test(text) ? readNumber(text.slice(0, -5)) : NaN;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((x) => Number(x || 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) return NaN;
  const rest = (hour * 3600 + minute * 60 + second) * 1e9 + Number((found[7] || "").padEnd(9, 0));
  return date.getTime() / 864e5 + rest / 864e11;
}

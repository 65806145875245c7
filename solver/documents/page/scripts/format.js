// Cells as people read them: the same as `cells.py`.
const NOTHING = "\u2013";
const NUMERIC = new Set(["count", "number", "share", "points", "seconds"]);
const MOST_DIGITS = 5;

const withMinus = (text) => text.replaceAll("-", "\u2212");
const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

// `toFixed` rounds what lies just in the middle up; Python, and so every other number of the report, to even.
function fixed(value, digits) {
  const scaled = Math.abs(value) * 10 ** digits;
  const between = Number.isInteger(value * 2 ** (digits + 1)) && scaled % 1 === 0.5;
  if (!between) return value.toFixed(digits);
  const below = Math.floor(scaled);
  const even = below % 2 === 0 ? below : below + 1;
  return ((Math.sign(value) * even) / 10 ** digits).toFixed(digits);
}

function countText(value) {
  if (Number.isInteger(value)) return withMinus(grouped(String(value)));
  const [whole, part] = fixed(value, 2).split(".");
  const rest = part.replace(/0+$/, "");
  return withMinus(grouped(whole) + (rest ? `.${rest}` : ""));
}

function numberText(value) {
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size < 1e-4 || size >= 1e15) {
    const [digits, exponent] = Number(value.toPrecision(4)).toExponential().split("e");
    return withMinus(`${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`);
  }
  return size >= 1000 ? withMinus(grouped(fixed(value, 0))) : withMinus(String(Number(value.toPrecision(4))));
}

function shareText(share) {
  const value = Math.abs(share - 1) <= 1e-12 ? 100 : 100 * share + 0;
  for (let digits = 1; digits <= MOST_DIGITS; digits += 1) {
    const text = fixed(value, digits);
    if (value === 0 || Math.abs(value) >= 100 || ![0, 100].includes(Math.abs(Number(text)))) return `${text} %`;
  }
  const least = 10 ** -MOST_DIGITS;
  const end = (Math.abs(value) < 1 ? least : 100 - least).toFixed(MOST_DIGITS);
  const larger = value < 0 ? Math.abs(value) < 1 : Math.abs(value) > 1;
  return `${larger ? ">" : "<"} ${value < 0 ? "-" : ""}${end} %`;
}

const pointsText = (difference) => shareText(difference).replace(/ %$/, " points");

function secondsText(seconds) {
  if (seconds < 600) {
    const text = fixed(seconds, seconds < 10 ? 2 : 1);
    return `${text.replace(/0+$/, "").replace(/\.$/, "")} s`;
  }
  const whole = Number(fixed(seconds, 0));
  const minutes = Math.floor(whole / 60);
  if (minutes < 120) return `${minutes} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

const WRITERS = { count: countText, number: numberText, share: shareText, points: pointsText, seconds: secondsText };

// The same as `whole` of `cells.py`: nodes in whose options, and in re-identified, no line ends.
const WHOLE = /(?<![\w-])(--[a-z][a-z-]*|re-identif[a-z]*)/i;

function wholeWords(text) {
  return text.split(WHOLE).map((part, at) => (at % 2 ? element("span", { class: "whole" }, part) : part));
}

function cellText(value, of) {
  if (value === null || value === undefined) return NOTHING;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" && of in WRITERS ? WRITERS[of](value) : String(value);
}

/** The browser's locale. `navigator.language` may be an invalid language tag: `en-US@posix` was seen. */
const locale = undefined
const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
const shortCounts = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
// Shares that round to zero have no minus sign.
const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1, signDisplay: 'negative' })
const bytes = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
const thousandths = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 })
const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
const hundredths = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 })

const dollars = {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  minimumFractionDigits: 2,
} as const
const usd = new Intl.NumberFormat(locale, { ...dollars, maximumFractionDigits: 2 })
const columnUsd = new Intl.NumberFormat(locale, {
  ...{ ...dollars, minimumFractionDigits: 4, maximumFractionDigits: 4 },
  // Amounts that round to zero have no minus sign.
  signDisplay: 'negative',
})
const smallUsd = new Intl.NumberFormat(locale, { ...dollars, maximumFractionDigits: 6 })
const shortUsd = new Intl.NumberFormat(locale, {
  ...{ ...dollars, minimumFractionDigits: 0 },
  ...({ notation: 'compact', maximumFractionDigits: 1 } as const),
})
const fullUsd = new Intl.NumberFormat(locale, { ...dollars, maximumFractionDigits: 12 })

/** Units of millions and thousands: some countries write 5.1m and 12K, which look like other units. */
const shortUnits: Record<string, string> = { m: 'M', K: 'k' }

/** Uses the minus sign, which Intl has in few languages only: as wide as plus, and not a hyphen. */
const signed = (text: string) => text.replace('-', '−')

/** The text of an absent value. */
export const nothing = '—'

/** Formats a count: 1,284,330 */
export function formatCount(value: number | null | undefined): string {
  return value === null || value === undefined ? nothing : counts.format(value)
}

/** Formats a count for axes and small places, beside the whole number: 1.3M */
export function formatShort(value: number | null | undefined): string {
  return value === null || value === undefined ? nothing : withUnits(shortCounts, value)
}

function withUnits(format: Intl.NumberFormat, value: number): string {
  const parts = format.formatToParts(value)
  return parts.map(({ type, value: text }) => (type === 'compact' ? (shortUnits[text] ?? text) : text)).join('')
}

/** Formats a ratio as a percentage: 0.0123 → 1.2%. */
export function formatPercent(ratio: number | null | undefined): string {
  return ratio === null || ratio === undefined || !Number.isFinite(ratio) ? nothing : signed(percents.format(ratio))
}

/**
 * Formats US dollars. Amounts below a cent keep their significant digits, down to the Hub's precision of a millionth.
 */
export function formatUsd(value: number | null | undefined): string {
  if (value === null || value === undefined) return nothing
  return signed((value !== 0 && Math.abs(value) < 0.01 ? smallUsd : usd).format(value))
}

/** Formats US dollars for axes and small places: $0.35, $12k, $1.3bn. */
export function formatUsdShort(value: number): string {
  return Math.abs(value) < 1000 ? formatUsd(value) : signed(withUnits(shortUsd, value))
}

/**
 * Formats US dollars to the hundredth of a cent, for table cells whose amounts are compared. `<UsdText>` shows the
 * other digits, too.
 */
export function formatUsdInColumn(value: number | null | undefined): string {
  return value === null || value === undefined ? nothing : signed(columnUsd.format(value))
}

/** Formats US dollars with all digits, such as of a price. */
export function formatUsdInFull(value: number): string {
  return signed(fullUsd.format(value))
}

/** Formats a difference of two ratios in percentage points, without the word: 0.033 → 3.3 */
export function formatPoints(difference: number): string {
  return tenths.format(difference * 100)
}

/** Formats milliseconds in one unit along an axis: 0.5 s, 60 s */
export function formatSeconds(ms: number): string {
  return `${thousandths.format(ms / 1000)} s`
}

/** Formats a duration: 812 ms, 4.10 s, 2 min 5 s, 3 h 20 min */
export function formatMs(value: number | null | undefined): string {
  if (value === null || value === undefined) return nothing
  if (value < 1000) return `${Math.round(value)} ms`
  if (value < 60_000) return `${(value < 10_000 ? hundredths : tenths).format(value / 1000)} s`
  const seconds = Math.round(value / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(value / 60_000)
  return `${counts.format(Math.floor(minutes / 60))} h ${minutes % 60} min`
}

/** Formats bytes in powers of 1,000: 1.4 MB */
export function formatBytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return nothing
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3))
  return `${bytes.format(value / 1000 ** power)} ${units[power]}`
}

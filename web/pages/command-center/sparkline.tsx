import styles from './sparkline.module.css'

type Values = readonly (number | undefined)[]

export interface SparklineProps {
  /** A value for each hour or day; undefined leaves a gap. */
  values: Values
  /** The values of the previous period, from its first hour or day. */
  before: Values
}

const width = 100
const height = 32

/**
 * Draws a metric over time in little space, from zero, above a faint line of the previous period. The charts below have
 * the same values as tables, so that assistive technology skips this.
 */
export function Sparkline({ values, before }: SparklineProps) {
  const earlier = before.slice(0, values.length)
  const known = [...values, ...earlier].filter((value) => value !== undefined)
  const top = Math.max(0, ...known)
  const bottom = Math.min(0, ...known)
  if (values.length < 2 || top === bottom) return null
  const pathOf = (line: Values) =>
    line
      .map((value, index) => {
        if (value === undefined) return ''
        const x = (index * width) / (values.length - 1)
        const y = height * ((top - value) / (top - bottom))
        // A length of zero draws a dot where no line follows.
        return `${line[index - 1] === undefined ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}h0`
      })
      .join('')
  return (
    <svg className={styles.sparkline} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={pathOf(earlier)} className={styles.before} />
      <path d={pathOf(values)} className={styles.now} />
    </svg>
  )
}

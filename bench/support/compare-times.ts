/** A request whose time an outsider can measure. */
type Probe = () => Promise<unknown>

interface Comparison<Name extends string> {
  /** The time difference of each probe from the first, as a share of the first. */
  differences: Record<Name, number>
  baseMs: number
  rounds: number
}

interface ComparisonOptions<Name extends string> {
  /** A copy of the first probe. Its difference is the noise of the measurement. */
  control: NoInfer<Name>
  /** Rounds continue until the control differs by less. */
  noiseMax: number
  /** Rounds also continue until no probe differs by more: noise falls with the number of rounds, a leak does not. */
  threshold?: number
  /** Maximum number of rounds. */
  roundsMax: number
}

const roundsAtOnce = 100

/**
 * Measures probes in rounds, each in another order, so that other work of the machine affects all alike. Compares the
 * first quartiles: noise only ever adds to a time, so the lower part of the samples shows more than the middle (Crosby,
 * Wallach and Riedi, Opportunities and limits of remote timing attacks, 2009).
 */
export async function compareTimes<Name extends string>(
  probes: Record<Name, Probe>,
  { control, noiseMax, threshold = Number.POSITIVE_INFINITY, roundsMax }: ComparisonOptions<Name>,
): Promise<Comparison<Name>> {
  const names = Object.keys(probes) as Name[]
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]))
  // The first calls run code that is not compiled yet.
  for (let warmUp = 0; warmUp < roundsAtOnce; warmUp += 1) for (const name of names) await probes[name]()
  for (let rounds = 1; ; rounds += 1) {
    for (const name of shuffled(names)) {
      const begunAt = performance.now()
      await probes[name]()
      samples.get(name)?.push(performance.now() - begunAt)
    }
    if (rounds % roundsAtOnce !== 0) continue
    const { differences, baseMs } = differencesOf(names, samples)
    const isQuiet = Math.abs(differences[control]) < noiseMax
    const isWithin = names.every((name) => Math.abs(differences[name]) < threshold)
    const isEnough = rounds >= 3 * roundsAtOnce && isQuiet && isWithin
    if (isEnough || rounds >= roundsMax) return { differences, baseMs, rounds }
  }
}

function differencesOf<Name extends string>(names: readonly Name[], samples: ReadonlyMap<Name, readonly number[]>) {
  const quartiles = names.map((name) => firstQuartile(samples.get(name) ?? []))
  const baseMs = quartiles[0] ?? Number.NaN
  const shares = names.map((name, index) => [name, ((quartiles[index] ?? Number.NaN) - baseMs) / baseMs])
  return { differences: Object.fromEntries(shares) as Record<Name, number>, baseMs }
}

function firstQuartile(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 4)]
}

function shuffled<T>(items: readonly T[]): T[] {
  const rest = [...items]
  return items.map(() => rest.splice(Math.floor(Math.random() * rest.length), 1)[0] as T)
}

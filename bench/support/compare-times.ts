/** A request whose time a stranger can take. */
type Probe = () => Promise<unknown>

interface Comparison<Name extends string> {
  /** By how much the time of each probe differs from that of the first, as a share of it. */
  differences: Record<Name, number>
  baseMs: number
  rounds: number
}

interface ComparisonOptions<Name extends string> {
  /** The same as the first probe: what it differs by is the noise of the measurement. */
  control: NoInfer<Name>
  /** More rounds are made until the control differs by less. */
  noiseMax: number
  /** And until no probe differs by more, for noise goes with the number of rounds and a leak does not. */
  threshold?: number
  /** No more rounds are made than this. */
  roundsMax: number
}

const roundsAtOnce = 100

/**
 * Takes times of probes in rounds, each round in another order, so that whatever else the machine does falls on all of
 * them alike. Compared are the first quartiles: noise only ever adds to a time, so the lower part of the samples tells
 * more than the middle (Crosby, Wallach and Riedi, Opportunities and limits of remote timing attacks, 2009).
 */
export async function compareTimes<Name extends string>(
  probes: Record<Name, Probe>,
  { control, noiseMax, threshold = Number.POSITIVE_INFINITY, roundsMax }: ComparisonOptions<Name>,
): Promise<Comparison<Name>> {
  const names = Object.keys(probes) as Name[]
  const samples = new Map<Name, number[]>(names.map((name) => [name, []]))
  // The first calls are of code that is not compiled yet.
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

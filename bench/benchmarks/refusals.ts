// Measures time differences between refusals, by which an outsider could learn what exists. See ../README.md.

import { randomBytes } from 'node:crypto'
import { Agent, request } from 'undici'
import { durability, startBenchHub } from '../support/bench-hub.ts'
import { type Outcome, type Row, type Run, runFigure } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { rounded } from '../support/statistics.ts'

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
async function compareTimes<Name extends string>(
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

/**
 * Maximum share of a request by which two causes may differ. A look-up only for known accounts takes a fifth of a
 * request or more, a slow hash several. Attackers detected 0.1 ms over the Internet at best (Crosby, Wallach and Riedi,
 * 2009).
 */
const threshold = 0.1
const noiseMax = 0.03
/** No request of this benchmark may be limited. */
const limitFactor = '10000000'
const control = 'control'

async function measure(run: Run) {
  const hub = await startBenchHub({ env: { HUB_LIMIT_FACTOR: limitFactor } })
  const settings = await durability(hub.database)
  const { clientId } = (await hub.tenant('bench')).credentials
  const agent = new Agent({ connections: 1 })
  const refused = async (status: number, path: string, form?: Record<string, string>) => {
    const answer = await request(`${hub.url}${path}`, {
      dispatcher: agent,
      method: form ? 'POST' : 'GET',
      headers: form ? { 'content-type': 'application/x-www-form-urlencoded' } : {},
      body: form ? new URLSearchParams(form).toString() : null,
    })
    await answer.body.dump()
    if (answer.statusCode !== status) throw new Error(`${path} answered ${answer.statusCode}, not ${status}`)
  }
  const token = (client_id: string) => () =>
    refused(401, '/api/v1/oauth/token', {
      ...{ grant_type: 'client_credentials', client_id, client_secret: `hubs${'x'.repeat(44)}` },
    })
  // Prepared in advance, since it takes time. Each is used once, so that nothing is cached.
  const names = Array.from({ length: 50_000 }, () => randomBytes(12).toString('hex'))
  const unknownClient = () => token(`sa${names.pop()}`)()
  const link = (tenant: string) => refused(404, `/sign-in/link/${tenant}/${'A'.repeat(43)}`)
  const login = (tenant: string) => refused(403, `/api/v1/auth/login?tenant=${tenant}`)
  const unknown = (ask: (tenant: string) => Promise<void>) => () => ask(`t${names.pop()}`)
  const subjects = {
    'token request: wrong secret of a known client id': [unknownClient, token(clientId)],
    'sign-in link: unknown token of a known tenant': [unknown(link), () => link('bench')],
    'login: known tenant without an identity provider': [unknown(login), () => login('bench')],
  } as const

  const outcomes: Outcome[] = []
  const rows: Row[] = []
  for (const [name, [base, known]] of Object.entries(subjects)) {
    const { differences, baseMs, rounds } = await compareTimes(
      { unknown: base, [control]: base, known },
      { control, noiseMax, threshold, roundsMax: run.quick ? 100 : 2_000 },
    )
    const percentOf = (share: number | undefined) => rounded((share ?? Number.NaN) * 100)
    logProgress(`${name}: ${percentOf(differences.known)} % of ${rounded(baseMs)} ms, after ${rounds} rounds`)
    rows.push({
      what: name,
      'ms of an unknown one': rounded(baseMs),
      'difference %': percentOf(differences.known),
      'control %': percentOf(differences[control]),
      rounds,
    })
    outcomes.push({
      figure: `difference in time of a refusal, ${name}`,
      reference: 'the same request for an unknown one',
      unit: '%',
      value: Math.abs(percentOf(differences.known)),
      bound: 'max',
      target: threshold * 100,
    })
  }
  await agent.close()
  await hub.stop()
  return { outcomes, tables: { 'First quartiles of the times of refused requests': rows }, notes: settings }
}

await runFigure({
  name: 'refusals',
  title: 'Times of refusals, which must not tell what exists',
  seconds: 3,
  rounds: 1,
  measure,
})

// Measures time differences between refusals, by which an outsider could learn what exists. See ../README.md.
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'undici'
import { durability, startBenchHub } from '../support/bench-hub.ts'
import { compareTimes } from '../support/compare-times.ts'
import { type Outcome, type Row, type Run, runFigure } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { rounded } from '../support/statistics.ts'

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

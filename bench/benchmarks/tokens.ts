// Measures tokens by client credentials, against the package `oidc-provider` and a bare echo of the same form. See
// ../README.md.
import { startReference } from '../baselines/start-reference.ts'
import { durability, scopes, startBenchHub } from '../support/bench-hub.ts'
import { type Load, sendSingles } from '../support/closed-loop.ts'
import { type CpuShares, cpuShares, cpuTimes } from '../support/cpu-times.ts'
import { type Row, type Run, runFigure } from '../support/figure.ts'
import { startProfile } from '../support/profile.ts'
import { logProgress } from '../support/progress.ts'
import { median, rounded, spreadOf } from '../support/statistics.ts'
import { keptOneIn, sampleTokens } from '../support/token-sample.ts'

const connections = 64
const target = 2
/** Each unit of the limit permits at least a token a second: no run of a minute may reach it. */
const limitFactor = '10000000'

const hubName = 'Hub'
const providerName = 'oidc-provider'
const echoName = 'bare Fastify form echo'

async function measure(run: Run) {
  const profile = await startProfile(run)
  const hub = await startBenchHub({ nodeOptions: profile.nodeOptions, env: { HUB_LIMIT_FACTOR: limitFactor } })
  const settings = await durability(hub.database)
  const { clientId, clientSecret } = (await hub.tenant('bench')).credentials
  const provider = await startReference('oidc-provider', { clientId, clientSecret, scope: scopes })
  const echo = await startReference('form-echo')
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope: scopes,
  }).toString()
  const samples = { hub: sampleTokens(), provider: sampleTokens() }
  const subjects = [
    { name: echoName, server: echo, path: '/token', sample: undefined },
    { name: providerName, server: provider, path: '/token', sample: samples.provider },
    { name: hubName, server: hub, path: '/api/v1/oauth/token', sample: samples.hub },
  ]
  const send = async ({ server, path, sample }: (typeof subjects)[number], seconds: number) => {
    const processes = { pid: server.pid, postgresPid: hub.postgresPid }
    const before = cpuTimes(processes)
    const load = await sendSingles(Array<string>(connections).fill(form), {
      url: server.url,
      path,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      connections,
      seconds,
      expectedStatus: 200,
      ...(sample && { onAnswer: sample.add }),
    })
    return { load, cpu: cpuShares(before, cpuTimes(processes), load.answered) }
  }

  logProgress(`warming up each for ${run.warmUpSeconds} s`)
  for (const subject of subjects) await send(subject, run.warmUpSeconds)
  const loads = new Map<string, { load: Load; cpu: CpuShares }[]>(subjects.map(({ name }) => [name, []]))
  profile.begin()
  for (let round = 1; round <= run.rounds; round++) {
    for (const subject of subjects) {
      const measured = await send(subject, run.seconds)
      loads.get(subject.name)!.push(measured)
      logProgress(`round ${round}: ${subject.name}: ${Math.round(measured.load.perSecond)}/s`)
    }
  }
  profile.end()
  const verified = {
    hub: await samples.hub.verify({ jwksUri: `${hub.url}/.well-known/jwks.json`, scope: scopes }),
    provider: await samples.provider.verify({ jwksUri: `${provider.url}/jwks`, scope: scopes }),
  }
  logProgress(`verified ${verified.hub} tokens of the Hub and ${verified.provider} of oidc-provider`)
  await hub.stop()
  await profile.show(hub.pid)

  const rates = (name: string) => loads.get(name)!.map(({ load }) => load.perSecond)
  const ratio = (name: string, to: string) => spreadOf(rates(name).map((rate, at) => rate / rates(to)[at]!))
  const { median: value, ...spread } = ratio(hubName, providerName)
  const rows = subjects.map(({ name }): Row => {
    const of = (pick: (one: { load: Load; cpu: CpuShares }) => number) => rounded(median(loads.get(name)!.map(pick)))
    return {
      what: name,
      'per second': Math.round(median(rates(name))),
      'of the echo': ratio(name, echoName).median,
      'p50 ms': of(({ load }) => load.latencyMs.p50),
      'p99 ms': of(({ load }) => load.latencyMs.p99),
      'server µs': of(({ cpu }) => cpu.node),
      'load µs': of(({ cpu }) => cpu.load),
    }
  })
  return {
    outcomes: [
      {
        figure: 'tokens by client credentials, ES256, tokens/s',
        reference: `${providerName}, tokens/s`,
        unit: '×' as const,
        value,
        spread,
        bound: 'min' as const,
        target,
      },
    ],
    tables: { [`Token requests, ${connections} connections (CPU time per request)`]: rows },
    remarks: [
      `${verified.hub} tokens of the Hub and ${verified.provider} of oidc-provider, one of ${keptOneIn}, were verified ` +
        'against the keys that each publishes: ES256, `at+jwt`, the scopes asked for, none of them twice.',
    ],
    notes: settings,
  }
}

await runFigure({
  name: 'tokens',
  title: 'Tokens by client credentials against oidc-provider',
  seconds: 3,
  rounds: 4,
  flags: ['profile'],
  measure,
})

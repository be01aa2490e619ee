// Measures tokens by client credentials, against the package `oidc-provider` and a bare echo of the same form. See
// ../README.md.

import { createRemoteJWKSet, jwtVerify } from 'jose'
import { startReference } from '../baselines/start-reference.ts'
import { durability, scopes, startBenchHub } from '../support/bench-hub.ts'
import { sendSingles } from '../support/closed-loop.ts'
import { loadColumns, type MeasuredLoad, measureLoad } from '../support/cpu-times.ts'
import { outcomeOf, type Run, runFigure } from '../support/figure.ts'
import { startProfile } from '../support/profile.ts'
import { logProgress } from '../support/progress.ts'
import { median, rounded } from '../support/statistics.ts'

/** One response of this many is kept. */
const keptOneIn = 500
const tokensMin = 5

interface TokenSample {
  /** Takes a response of a token endpoint. */
  add(answer: Buffer): void
  /**
   * Verifies every kept token against the keys that the server publishes.
   *
   * @returns their number
   * @throws Error if one is not an ES256 access token (RFC 9068) with these scopes, occurs twice, or there are too few
   */
  verify(server: { jwksUri: string; scope: string }): Promise<number>
}

function sampleTokens(): TokenSample {
  const tokens: string[] = []
  let seen = 0
  return {
    add(answer) {
      if (seen++ % keptOneIn > 0) return
      const token = /"access_token":"([^"]+)"/.exec(answer.toString())?.[1]
      // The load generator delivers a response in two pieces if a network read ended inside it.
      if (token === undefined) seen--
      else tokens.push(token)
    },
    async verify({ jwksUri, scope }) {
      const keys = createRemoteJWKSet(new URL(jwksUri))
      const ids = new Set<unknown>()
      for (const token of tokens) {
        const { payload } = await jwtVerify(token, keys, { algorithms: ['ES256'], typ: 'at+jwt' })
        if (payload.scope !== scope) throw new Error(`a token has the scopes ${payload.scope}, not ${scope}`)
        ids.add(payload.jti)
      }
      if (ids.size < tokens.length) throw new Error('a token was issued twice')
      if (ids.size < tokensMin) throw new Error(`only ${ids.size} tokens could be looked at`)
      return ids.size
    },
  }
}

const connections = 64
const target = 1.5
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
    return measureLoad({ pid: server.pid, postgresPid: hub.postgresPid }, () =>
      sendSingles(Array<string>(connections).fill(form), {
        url: server.url,
        path,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        connections,
        seconds,
        expectedStatus: 200,
        ...(sample && { onAnswer: sample.add }),
      }),
    )
  }

  logProgress(`warming up each for ${run.warmUpSeconds} s`)
  for (const subject of subjects) await send(subject, run.warmUpSeconds)
  const loads = new Map<string, MeasuredLoad[]>(subjects.map(({ name }) => [name, []]))
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
  const ratios = (name: string, to: string) => rates(name).map((rate, at) => rate / rates(to)[at]!)
  const rows = subjects.map(({ name }) => ({
    what: name,
    'of the echo': rounded(median(ratios(name, echoName))),
    ...loadColumns(loads.get(name)!),
  }))
  return {
    outcomes: [
      outcomeOf(ratios(hubName, providerName), {
        figure: 'tokens by client credentials, ES256, tokens/s',
        reference: `${providerName}, tokens/s`,
        unit: '×',
        bound: 'min',
        target,
      }),
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

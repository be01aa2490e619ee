// Measures the batcher of the TypeScript SDK, built as it ships, in a process of its own. See ../README.md.
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { atEnd } from '../support/cleanup.ts'
import { outcomeOf, type Run, runFigure } from '../support/figure.ts'
import { logProgress } from '../support/progress.ts'
import { sampleEvent } from '../support/sample-events.ts'
import { median } from '../support/statistics.ts'

const execute = promisify(execFile)
const source = resolve(import.meta.dirname, '../../sdk/typescript')
const rateMin = 20_000

interface Result {
  perSecond: number
  mb: number
  startMb: number
}

/** Tracks events as the caller of a service would, at a rate or as fast as it can. */
const load = `
const { HubClient } = await import(process.env.SDK)
const { event, baseUrl, seconds, rate } = JSON.parse(process.env.LOAD)
const startMb = process.memoryUsage.rss() / 1e6
const hub = new HubClient({ baseUrl, tenant: 'bench', accessToken: 'token' })
let tracked = 0
const began = performance.now()
for (let ms = 0; ms < seconds * 1000; ms = performance.now() - began) {
  const due = rate ? Math.ceil((rate * ms) / 1000) : tracked + 1000
  while (tracked < due) { await hub.telemetry.track({ ...event, tokens_in: tracked }); tracked += 1 }
  if (rate) await new Promise((wake) => setTimeout(wake, 2))
}
const { accepted } = await hub.telemetry.close()
if (accepted !== tracked) throw new Error(accepted + ' of ' + tracked + ' were accepted')
const passed = (performance.now() - began) / 1000
console.log(JSON.stringify({ perSecond: tracked / passed, mb: process.resourceUsage().maxRSS * 1024 / 1e6, startMb }))
`

/** Answers batches as the Hub does, without storing them: the process under test is the sender. */
async function startReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    let events = 0
    request.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf('}'); at >= 0; at = chunk.indexOf('}', at + 1)) events++
    })
    request.on('end', () => {
      // The last brace ends the body.
      const answer = JSON.stringify({ accepted: events - 1, failed: 0, record_ids: [] })
      response.writeHead(201, { 'content-type': 'application/json' }).end(answer)
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  atEnd(async () => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function measure(run: Run) {
  await execute('npm', ['run', 'build'], { cwd: source })
  const baseUrl = await startReceiver()
  const event = sampleEvent(1, Date.now())
  async function once(rate: number | undefined, options: string[]): Promise<Result> {
    const { stdout } = await execute(process.execPath, [...options, '--input-type=module', '-e', load], {
      env: {
        PATH: process.env.PATH,
        SDK: `${source}/dist/sdk/typescript/src/index.js`,
        LOAD: JSON.stringify({ event, baseUrl, seconds: run.seconds, rate }),
      },
    })
    return JSON.parse(stdout) as Result
  }
  const small = ['--max-semi-space-size=1']
  const variants = [
    { name: 'as fast as it can', rate: undefined, options: [] as string[] },
    { name: 'as fast as it can, --max-semi-space-size=1', rate: undefined, options: small },
    { name: '20,000 events/s', rate: rateMin, options: [] as string[] },
    { name: '20,000 events/s, --max-semi-space-size=1', rate: rateMin, options: small },
  ].map((variant) => ({ ...variant, results: [] as Result[] }))
  for (let round = 1; round <= run.rounds; round++) {
    for (const { name, rate, options, results } of variants) {
      const result = await once(rate, options)
      results.push(result)
      logProgress(`round ${round}: ${name}: ${Math.round(result.perSecond)} events/s, ${Math.round(result.mb)} MB`)
    }
  }
  const [fast, , paced, pacedSmall] = variants.map(({ results }) => results) as [Result[], Result[], Result[], Result[]]
  const ofMemory = { reference: 'none', unit: 'MB', bound: 'max', target: 100 } as const
  return {
    outcomes: [
      outcomeOf(
        fast.map(({ perSecond }) => perSecond),
        {
          figure: 'TypeScript SDK: track() without a pause, events/s',
          ...{ reference: 'none', unit: 'events/s', bound: 'min', target: rateMin },
        },
      ),
      outcomeOf(
        paced.map(({ mb }) => mb),
        { figure: 'TypeScript SDK: resident memory at 20,000 events/s, highest', ...ofMemory },
      ),
      outcomeOf(
        pacedSmall.map(({ mb }) => mb),
        { figure: 'TypeScript SDK: the same memory with --max-semi-space-size=1', ...ofMemory },
      ),
    ],
    tables: {
      'One Node process, a receiver that stores nothing': variants.map(({ name, results }) => ({
        what: name,
        'events/s': Math.round(median(results.map(({ perSecond }) => perSecond))),
        'highest MB': Math.round(median(results.map(({ mb }) => mb))),
        'MB before the first event': Math.round(median(results.map(({ startMb }) => startMb))),
      })),
    },
  }
}

await runFigure({ name: 'sdk', title: 'The batcher of the TypeScript SDK', seconds: 6, rounds: 3, measure })

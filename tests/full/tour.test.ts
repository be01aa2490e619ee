import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  curlStandIn,
  documentedOutputs,
  installedCurl,
  maskSteps,
  readSteps,
  runSteps,
  tours,
} from '../support/readme-tour.ts'

/** The pages say what their commands print. To write the current output: node tests/support/readme-tour.ts --write */
const steps = await Promise.all(tours.map(readSteps))
const [readme = [], tour = []] = steps

let real: string[][] = []
beforeAll(async () => {
  const outputs = await runSteps(steps)
  real = steps.map((ofTour, at) => maskSteps(ofTour, outputs[at]!))
})

describe.each(steps.map((ofTour, at) => ({ ofTour, tourAt: at })))('tour $tourAt', ({ ofTour, tourAt }) => {
  const documented = documentedOutputs(ofTour)
  test.each(
    ofTour.map(({ page, commands }, at) => ({ at, name: `${page}: ${commands.split('\n')[0]!.slice(0, 70)}` })),
  )('$name', ({ at }) => {
    expect(real[tourAt]![at]).toBe(documented[at])
  })
})

test('the tour covers what a newcomer needs, and ends in success', () => {
  const commands = tour.map((step) => step.commands).join('')
  const needed = ['/oauth/token', '"decision"', 'events:batch', 'verify=true', '/verify', '/related', 'X DELETE']
  needed.push('records:export', 'hub -- verify', '/legal-holds', 'run hard-delete', '/deletion-certificate')
  for (const part of needed) expect(commands).toContain(part)
  const outputs = tour.map((step) => step.output).filter((output) => output !== '')
  expect(outputs.length).toBeGreaterThanOrEqual(15)
  const [verified, link] = outputs.slice(-2)
  expect(verified).toMatch(/records\.jsonl: verified\n[\s\S]*\nTenant acme: good\./)
  expect(verified).not.toMatch(/NOT|FAILED|Wrong/)
  expect(link).toContain('http://127.0.0.1:8080/records/')
})

test('the README’s first event is stored and verifies', () => {
  expect(readme.map((step) => step.commands).join('')).toContain('/api/v1/telemetry/events')
  expect(readme.at(-1)?.output).toContain('"verified":true')
})

test('values that differ between runs get a name, values of the commands stay', () => {
  const [first, again] = maskSteps(
    [{ commands: 'at 2026-01-05T09:30:00Z' }],
    [
      '"id": "01a1fd94-5037-769f-b25e-05872936a652", "ts": "2026-01-05T09:30:00Z", "at": "2026-11-21T10:08:37.943414Z"',
      '"id": "01a1fd94-5037-769f-b25e-05872936a652", "other": "01a1fd94-5037-7835-a82a-31b3211bf4d4", "status": 422',
    ],
  )
  expect(first).toBe('"id": "<uuid 2>", "ts": "2026-01-05T09:30:00Z", "at": "<time 1>"')
  expect(again).toBe('"id": "<uuid 2>", "other": "<uuid 3>", "status": 422')
})

/** Shows that the stand-in sends the same requests as the installed curl, which the pages run with if there is one. */
describe.each([installedCurl(), curlStandIn].filter((curl) => curl !== undefined))('requests of %s', (curl) => {
  const server = createServer(async (request, response) => {
    response.end(JSON.stringify({ ...summaryOf(request), body: await text(request) }))
  })
  const send = async (options: string) => {
    const { port } = server.address() as AddressInfo
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      `printf 'user = "id:secret"' | ${curl} ${options} http://127.0.0.1:${port}/path?a=b`,
    ])
    return JSON.parse(stdout)
  }
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(() => {
    server.close()
  })

  test.each([
    { options: '-s', method: 'GET', body: '' },
    { options: '-s --config - -d grant_type=x', method: 'POST', body: 'grant_type=x', form: true, basic: true },
    {
      options: `-s -H 'X-Test: 1' -H 'Content-Type: application/json' -d '{"a": "é"}'`,
      method: 'POST',
      body: '{"a": "é"}',
      json: true,
      x: '1',
    },
    { options: `-s -H 'Content-Type: application/json' -X DELETE`, method: 'DELETE', body: '', json: true },
  ])('$options', async ({ options, method, body, form, json, basic, x }) => {
    expect(await send(options)).toEqual({
      ...{ url: '/path?a=b', method, body },
      ...(form && { type: 'application/x-www-form-urlencoded' }),
      ...(json && { type: 'application/json' }),
      ...(basic && { authorization: `Basic ${btoa('id:secret')}` }),
      ...(x !== undefined && { x }),
    })
  })
})

function summaryOf({ url, method, headers }: IncomingMessage) {
  return { url, method, type: headers['content-type'], authorization: headers.authorization, x: headers['x-test'] }
}

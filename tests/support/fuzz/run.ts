import type { FuzzFixtures } from './fuzz-fixtures.ts'
import { type GeneratedRequest, generate } from './generate.ts'
import { checkResponse } from './response-oracle.ts'
import { createSender, type WireResponse } from './send.ts'

export interface FuzzReport {
  requests: number
  /** Of broken HTTP, whose connection was closed without one. */
  withoutAnswer: number
  byStatus: Record<number, number>
  /** Operation → status → how often. */
  byOperation: Record<string, Record<number, number>>
  /** Mutation → how often. */
  byMutation: Record<string, number>
  /** What was wrong, with the request that showed it. */
  failures: string[]
}

const failuresMax = 30
const parallel = 8

/** Sends `count` requests, a few at a time, and judges every answer. */
export async function fuzz(world: FuzzFixtures, options: { seed: number; count: number }): Promise<FuzzReport> {
  const sender = createSender(world.baseUrl)
  const report: FuzzReport = {
    requests: 0,
    withoutAnswer: 0,
    byStatus: {},
    byOperation: Object.fromEntries(world.operations.map(({ operationId }) => [operationId, {}])),
    byMutation: {},
    failures: [],
  }
  const fail = (request: GeneratedRequest, complaint: string, answer?: WireResponse) =>
    report.failures.push(describe(options.seed, request, complaint, answer))

  async function one(index: number): Promise<void> {
    const request = world.signed(generate(options.seed, index, world))
    for (const name of request.mutations) count(report.byMutation, name)
    report.requests += 1
    try {
      const answers = await sender.send(request)
      if (answers.length === 0) report.withoutAnswer += 1
      for (const answer of answers) {
        count(report.byStatus, answer.status)
        if (request.raw === undefined) count(report.byOperation[request.operation.operationId]!, answer.status)
        for (const complaint of checkResponse(request, answer, world.baseUrl)) fail(request, complaint, answer)
      }
      await world.restore(request.operation.operationId)
    } catch (error) {
      fail(request, `no answer: ${error}`)
    }
  }

  let next = 0
  const worker = async () => {
    while (next < options.count && report.failures.length < failuresMax) await one(next++)
  }
  await Promise.all(Array.from({ length: parallel }, worker)).finally(() => sender.close())
  return report
}

function count(tally: Record<string | number, number>, name: string | number): void {
  tally[name] = (tally[name] ?? 0) + 1
}

function describe(
  seed: number,
  request: GeneratedRequest,
  complaint: string,
  answer: WireResponse | undefined,
): string {
  const { operation, method, target, headers, body, raw, index, mutations } = request
  const shown = raw
    ? [JSON.stringify(raw.toString('latin1').slice(0, 600))]
    : [`${method} ${target.slice(0, 300)}`, ...headers.map(([name, value]) => `${name}: ${value.slice(0, 100)}`)]
  const sent = raw || !body ? [] : [JSON.stringify(body.toString('latin1').slice(0, 400))]
  const got = answer ? [`→ ${answer.status} ${answer.body.toString().slice(0, 400)}`] : []
  return [
    `${complaint}  [seed ${seed}, request ${index}, ${operation.operationId}: ${mutations.join(', ') || 'unchanged'}]`,
    ...shown,
    ...sent,
    ...got,
  ].join('\n  ')
}

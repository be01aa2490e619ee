import { type Answer, startHub, type TestHub, type TestHubOptions } from '../support/hub.ts'

export const operatorToken = 'operator+token/of=these:tests'
export const tenantsPath = '/api/v1/operator/tenants'
export const ofTenant = (slug: string, rest = '') => `${tenantsPath}/${slug}${rest}`

export interface OperatorLab {
  hub: TestHub
  /** With the operator's token, or another one, and no tenant header. */
  call(method: string, path: string, body?: unknown, options?: { token?: string | null }): Promise<Answer>
}

/** A Hub whose operator has a token. */
export async function startOperatorLab(options: TestHubOptions = {}): Promise<OperatorLab> {
  const hub = await startHub({ ...options, settings: { HUB_OPERATOR_TOKEN: operatorToken, ...options.settings } })
  return {
    hub,
    call: (method, path, body, { token = operatorToken } = {}) =>
      hub.call('acme', method, path, {
        token,
        headers: { 'x-service-tenant': undefined },
        ...(body !== undefined && { body }),
      }),
  }
}

/** Status and slug of an answer's problem. */
export function problemOf(answer: Answer): [number, string | undefined] {
  return [
    answer.status,
    String(answer.body?.type ?? '')
      .split('/')
      .at(-1),
  ]
}

/** What an operation of the operator answers to those who are not: no token, another one, and a tenant's. */
export async function strangersAnswers(lab: OperatorLab, method: string, path: string, body?: unknown) {
  const all = [null, 'wrong', `${operatorToken}x`, await lab.hub.token('acme')]
  const answers: Answer[] = []
  for (const token of all) answers.push(await lab.call(method, path, body, { token }))
  return answers.map((answer) => [...problemOf(answer), String(answer.body.detail).includes('HUB_OPERATOR_TOKEN')])
}

/** Lists the expected results of {@link strangersAnswers}. */
export const allStrangersRefused = Array(4).fill([401, 'authentication-failed', true])

import { expect, test } from 'vitest'
import type { Scope } from '../../contract/scopes.ts'
import type { Answer, TestHub } from '../support/hub.ts'

/** A call that is right but for what the cases take from it. */
export interface RightCall {
  method: string
  path: string
  body?: unknown
}

export const slugOf = (answer: Answer) => String(answer.body?.type).split('/').at(-1)
export const pointersOf = (answer: Answer) => answer.body.errors?.map((error: { pointer: string }) => error.pointer)

/** No token, a wrong scope, another tenant's token, and where it is about one thing: the other tenant's. */
export function accessCases(parts: {
  hub: () => TestHub
  right: () => RightCall
  wrongScopes: Scope[]
  /** What globex gets for acme's thing. */
  otherTenant?: number
}): void {
  const { hub, right, wrongScopes, otherTenant } = parts
  const call = (tenant: 'acme' | 'globex', options = {}) => {
    const { method, path, body } = right()
    return hub().call(tenant, method, path, { body, ...options })
  }

  test('without a token is 401, without the scope 403, with the token of another tenant 403', async () => {
    const answers = [
      await call('acme', { token: null }),
      await call('acme', { scopes: wrongScopes }),
      await call('acme', { token: await hub().token('globex') }),
    ]
    expect(answers.map((answer) => [answer.status, slugOf(answer)])).toEqual([
      [401, 'authentication-failed'],
      [403, 'insufficient-scope'],
      [403, 'invalid-tenant'],
    ])
  })

  if (otherTenant !== undefined) {
    test('is nothing that another tenant sees', async () => {
      const answer = await call('globex')
      expect([answer.status, slugOf(answer)]).toEqual([otherTenant, 'not-found'])
    })
  }
}

import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../contract/domain-error.ts'
import { readTokenRequest } from '../../server/modules/auth/tokens/token-request.ts'

const grant = { grant_type: 'client_credentials' }
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

function refusal(...given: Parameters<typeof readTokenRequest>): { error: unknown; pointer: unknown; status: number } {
  try {
    readTokenRequest(...given)
  } catch (thrown) {
    const { status, extensions, errors } = thrown as DomainError
    return { status, error: extensions.error, pointer: errors?.[0]?.pointer }
  }
  throw new Error('it was taken')
}

describe('a token request', () => {
  test('takes the secret in the body', () => {
    const form = { ...grant, client_id: 'abc', client_secret: 's3cret', scope: 'hub:read  hub:write hub:read' }
    expect(readTokenRequest(form, {})).toEqual({
      clientId: 'abc',
      clientSecret: 's3cret',
      basic: false,
      scopes: ['hub:read', 'hub:write'],
      tenantHeader: undefined,
    })
  })

  test('takes it by HTTP Basic, form-encoded or not', () => {
    expect(readTokenRequest(grant, basic('abc:s3cret'))).toMatchObject({ clientId: 'abc', clientSecret: 's3cret' })
    expect(readTokenRequest(grant, basic('a%62c:s%33cret+%2B'))).toMatchObject({
      clientId: 'abc',
      clientSecret: 's3cret +',
      basic: true,
    })
    expect(readTokenRequest({ ...grant, client_id: 'abc' }, basic('abc:x'))).toMatchObject({ clientId: 'abc' })
    expect(
      readTokenRequest(grant, { authorization: basic('abc:x').authorization.replace('Basic', 'bAsIc') }),
    ).toBeTruthy()
  })

  test('treats an empty scope as none, and ignores fields it does not know', () => {
    const form = { ...grant, client_id: 'abc', client_secret: 'x', scope: '', audience: ['a', 'b'] }
    expect(readTokenRequest(form, { 'x-service-tenant': 'acme' })).toMatchObject({
      scopes: undefined,
      tenantHeader: 'acme',
    })
  })

  test.each([
    ['no grant type', { client_id: 'a', client_secret: 'b' }, {}, 'invalid_request', '/grant_type'],
    ['no client', grant, {}, 'invalid_request', '/client_id'],
    ['no secret', { ...grant, client_id: 'a' }, {}, 'invalid_request', '/client_secret'],
    ['an empty secret', { ...grant, client_id: 'a', client_secret: '' }, {}, 'invalid_request', '/client_secret'],
    ['both ways', { ...grant, client_id: 'a', client_secret: 'b' }, basic('a:b'), 'invalid_request', '/client_secret'],
    ['two clients', { ...grant, client_id: 'b' }, basic('a:b'), 'invalid_request', '/client_id'],
    ['a repeated field', { ...grant, client_id: ['a', 'a'] }, {}, 'invalid_request', '/client_id'],
    ['a repeated grant', { grant_type: ['client_credentials', 'password'] }, {}, 'invalid_request', '/grant_type'],
    ['a long field', { ...grant, scope: 'x'.repeat(5000) }, basic('a:b'), 'invalid_request', '/scope'],
    ['another grant', { grant_type: 'password' }, basic('a:b'), 'unsupported_grant_type', '/grant_type'],
  ] as const)('refuses %s', (_name, form, headers, error, pointer) => {
    expect(refusal(form as Parameters<typeof readTokenRequest>[0], headers)).toEqual({ status: 400, error, pointer })
  })

  test.each([
    ['another scheme', { authorization: 'Bearer abc' }],
    ['no colon', basic('abc')],
    ['no id', basic(':abc')],
    ['no secret', basic('abc:')],
    ['broken percent-encoding', basic('abc:%zz')],
    ['no base64', { authorization: 'Basic %%%' }],
    ['a header without end', { authorization: `Basic ${'A'.repeat(20_000)}` }],
  ])('answers 401 to an Authorization header with %s', (_name, headers) => {
    expect(refusal(grant, headers)).toEqual({ status: 401, error: 'invalid_client', pointer: undefined })
  })

  test('is not confused by fields named like members of objects', () => {
    expect(refusal({ __proto__: { grant_type: 'client_credentials' } } as never, {}).error).toBe('invalid_request')
  })
})

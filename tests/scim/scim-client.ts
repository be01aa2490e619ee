import type { Answer, CallOptions, TestHub, TestTenant } from '../support/hub.ts'

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const enterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
export const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
export const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** What an identity provider is of a tenant: its calls carry the token of the SCIM configuration. */
export interface ScimClient {
  token: string
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  get(path: string, headers?: CallOptions['headers']): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
  put(path: string, body: unknown): Promise<Answer>
  /** With the operations of a PATCH. */
  patch(path: string, operations: unknown): Promise<Answer>
  /** By filter, whose characters it escapes. */
  find(kind: 'Users' | 'Groups', filter: string, more?: string): Promise<Answer>
  /** Makes a user with what is usual, and answers it. */
  user(userName: string, more?: object): Promise<Answer['body']>
  group(displayName: string, memberIds?: readonly string[]): Promise<Answer['body']>
}

/** Configures SCIM that pushes for a tenant, and answers the client. */
export async function connectScim(hub: TestHub, tenant: TestTenant): Promise<ScimClient> {
  const { status, body } = await hub.call(tenant, 'POST', '/api/v1/identity/scim/configure', {
    body: { mode: 'push', group_archetype_map: [] },
  })
  if (status !== 200 && status !== 201) throw new Error(`SCIM was not configured: ${JSON.stringify(body)}`)
  return scimClient(hub, tenant, body.bearer_token)
}

export function scimClient(hub: TestHub, tenant: TestTenant, token: string): ScimClient {
  const call: ScimClient['call'] = (method, path, options = {}) =>
    hub.call(tenant, method, `/scim/v2/${tenant}${path}`, {
      token,
      ...options,
      headers: {
        'x-service-tenant': undefined,
        accept: 'application/scim+json',
        ...(options.body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...options.headers,
      },
    })
  const made = async (path: string, body: object) => {
    const answer = await call('POST', path, { body })
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
    return answer.body
  }
  return {
    token,
    call,
    get: (path, headers) => call('GET', path, headers ? { headers } : {}),
    post: (path, body) => call('POST', path, { body }),
    put: (path, body) => call('PUT', path, { body }),
    patch: (path, operations) => call('PATCH', path, { body: { schemas: [patchSchema], Operations: operations } }),
    find: (kind, filter, more = '') => call('GET', `/${kind}?filter=${encodeURIComponent(filter)}${more}`),
    user: (userName, more = {}) =>
      made('/Users', {
        schemas: [userSchema],
        userName,
        name: { givenName: 'Test', familyName: 'Person' },
        emails: [{ value: `${userName}@people.example`, type: 'work', primary: true }],
        active: true,
        ...more,
      }),
    group: (displayName, memberIds = []) =>
      made('/Groups', { schemas: [groupSchema], displayName, members: memberIds.map((value) => ({ value })) }),
  }
}

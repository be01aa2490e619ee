import type { CallOptions, TestHub, TestTenant } from '../support/hub.ts'

/** A call that must succeed. */
export async function call(hub: TestHub, tenant: TestTenant, method: string, path: string, options: CallOptions = {}) {
  const answer = await hub.call(tenant, method, path, options)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}

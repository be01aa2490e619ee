import type { DemoApi } from '../../demo/demo-api.ts'
import { HubClient, type RequestOptions } from '../../sdk/typescript/src/index.ts'

/** The calls of the demo loader. All of them can be repeated, because a load continues an earlier one. */
export class DemoHub extends HubClient implements DemoApi {
  override post<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return super.post(path, { idempotent: true, ...options })
  }

  scim<T>(method: string, path: string, token: string, body?: unknown): Promise<T> {
    return this.request(method, path, { body, headers: { authorization: `Bearer ${token}` }, idempotent: true })
  }
}

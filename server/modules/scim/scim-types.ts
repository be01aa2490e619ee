import type { JsonObject } from '../../../provenance/json.ts'
import type { Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { ListQuery } from './list-query.ts'
import type { Projection } from './projection.ts'

/** On whose behalf a request is, and what it says about versions. */
export interface ScimContext {
  tenant: Tenant
  actor: Actor
  ifMatch?: string | undefined
}

/** A resource as it is answered. */
export interface ScimResource {
  body: JsonObject
  location: string
  /** Weak, of the number of the version. */
  etag: string
}

/**
 * Users or Groups (RFC 7644, section 3). Bodies are as they came; all throw DomainError, with `scimType` where RFC 7644
 * has a word for it.
 */
export interface ScimResources {
  create(context: ScimContext, body: unknown, projection: Projection): Promise<ScimResource>
  get(context: ScimContext, id: string, projection: Projection): Promise<ScimResource>
  list(context: ScimContext, query: ListQuery, projection: Projection): Promise<{ total: number; items: JsonObject[] }>
  replace(context: ScimContext, id: string, body: unknown, projection: Projection): Promise<ScimResource>
  patch(context: ScimContext, id: string, body: unknown, projection: Projection): Promise<ScimResource>
  remove(context: ScimContext, id: string): Promise<void>
}

import type { JsonObject } from '../../../provenance/json.ts'
import type { Tenant } from '../../http/caller.ts'
import type { Actor } from '../governance/governance-types.ts'
import type { ListQuery } from './list-query.ts'
import type { Projection } from './projection.ts'

/** The tenant and the actor of a request, and the version it expects. */
export interface ScimContext {
  tenant: Tenant
  actor: Actor
  ifMatch?: string | undefined
}

/** A resource in the form of a response. */
export interface ScimResource {
  body: JsonObject
  location: string
  /** Weak entity tag with the number of the version. */
  etag: string
}

/**
 * Serves Users or Groups (RFC 7644, section 3). Bodies are unvalidated. Every method throws DomainError, with
 * `scimType` if RFC 7644 defines one.
 */
export interface ScimResources {
  create(context: ScimContext, body: unknown, projection: Projection): Promise<ScimResource>
  get(context: ScimContext, id: string, projection: Projection): Promise<ScimResource>
  list(context: ScimContext, query: ListQuery, projection: Projection): Promise<{ total: number; items: JsonObject[] }>
  replace(context: ScimContext, id: string, body: unknown, projection: Projection): Promise<ScimResource>
  patch(context: ScimContext, id: string, body: unknown, projection: Projection): Promise<ScimResource>
  remove(context: ScimContext, id: string): Promise<void>
}

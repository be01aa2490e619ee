import type { JsonObject } from '../../../../provenance/json.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'

/**
 * A skill of a pack, with the members of its future skill_definition record. Once the record is erased or the key
 * destroyed, the name is empty and optional members are absent.
 */
export interface CoworkSkill {
  skill_id: string
  skill_version: string
  name: string
  description?: string
  owner?: string
  manifest?: JsonObject
}

/** A pack as the caller sends it. */
export interface CoworkBody {
  name: string
  skills: readonly CoworkSkill[]
  archetype_ids: readonly string[]
}

/** A pack, with the member names of the response. */
export interface Cowork extends CoworkBody {
  cowork_id: string
  created_at: string
  updated_at: string
  /** Time of the last application that changed something. */
  applied_at?: string
}

/** The result of applying a pack, or its preview with `dry_run`, with the member names of the response. */
export interface Application {
  cowork_id: string
  dry_run: boolean
  /** The archetypes that the pack grants its skills to. */
  archetype_ids: string[]
  skill_ids: string[]
  registered: { skill_id: string; skill_version: string }[]
  published: string[]
  granted: { archetype_id: string; skill_id: string }[]
  /** Grants that the pack contained and no longer contains. */
  revoked: { archetype_id: string; skill_id: string }[]
  unchanged: boolean
  /** Time of the last application that changed something; absent before the first. */
  applied_at?: string
}

export interface ApplicationRequest {
  /** Defaults to the archetypes of the pack. */
  archetype_ids?: readonly string[]
  dry_run?: boolean
}

/**
 * Manages packs. Methods about one pack throw `not-found` if it is not stored; {@link Coworks.replace} stores it
 * instead.
 */
export interface Coworks {
  list(
    tenant: Tenant,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: Cowork[]; next_cursor: string | null }>
  get(tenant: Tenant, coworkId: string): Promise<Cowork>
  /**
   * Stores a pack without applying it. Repeating it changes nothing and writes no event. Throws `validation-failed`
   * with a pointer to each duplicate skill or archetype, and to each archetype outside the bundle.
   */
  replace(caller: Caller, coworkId: string, body: CoworkBody): Promise<Cowork>
  /**
   * Applies a pack: registers its missing versions, publishes its skills, grants them to the archetypes, and revokes
   * the grants that the pack no longer contains, in one transaction with one event. Grants that another applied pack
   * contains stay. Repeating it changes nothing and writes no event. Throws `validation-failed` for archetypes outside
   * the bundle and for unregistered versions whose names were lost with a key, `skill-not-registered` for retired
   * skills (pointers into the pack), and `hub-not-provisioned`.
   */
  apply(caller: Caller, coworkId: string, request: ApplicationRequest): Promise<Application>
  /** Returns the last application that changed something. Throws `not-found` before the first. */
  application(tenant: Tenant, coworkId: string): Promise<Application>
}

import type { JsonObject } from '../../../../provenance/json.ts'
import type { Caller, Tenant } from '../../../http/caller.ts'

/**
 * A skill of a pack, as its skill_definition record will say it. Name empty, and the rest absent, once that is erased, or
 * the key is destroyed that it was sealed under.
 */
export interface CoworkSkill {
  skill_id: string
  skill_version: string
  name: string
  description?: string
  owner?: string
  manifest?: JsonObject
}

/** What a caller says of a pack. */
export interface CoworkBody {
  name: string
  skills: readonly CoworkSkill[]
  archetype_ids: readonly string[]
}

/** In the names of the answer. */
export interface Cowork extends CoworkBody {
  cowork_id: string
  created_at: string
  updated_at: string
  /** When an application changed something last. */
  applied_at?: string
}

/** What applying a pack did, or with `dry_run` would do, in the names of the answer. */
export interface Application {
  cowork_id: string
  dry_run: boolean
  /** To which the pack gives its skills. */
  archetype_ids: string[]
  skill_ids: string[]
  registered: { skill_id: string; skill_version: string }[]
  published: string[]
  granted: { archetype_id: string; skill_id: string }[]
  /** Grants that the pack gave, and no longer gives. */
  revoked: { archetype_id: string; skill_id: string }[]
  unchanged: boolean
  /** When an application changed something last; absent where none has yet. */
  applied_at?: string
}

export interface ApplicationRequest {
  /** Without it those of the pack. */
  archetype_ids?: readonly string[]
  dry_run?: boolean
}

/** All but {@link Coworks.list} throw `not-found` for a pack that is not stored; {@link Coworks.replace} stores it. */
export interface Coworks {
  list(
    tenant: Tenant,
    page: { limit: number; cursor?: string | undefined },
  ): Promise<{ items: Cowork[]; next_cursor: string | null }>
  get(tenant: Tenant, coworkId: string): Promise<Cowork>
  /**
   * Stores a pack, and does nothing else: what it says comes into effect when it is applied. Repeating it changes
   * nothing and writes no event. Throws `validation-failed` with a pointer to each skill that is named twice and each
   * archetype that is, or that is not in the bundle.
   */
  replace(caller: Caller, coworkId: string, body: CoworkBody): Promise<Cowork>
  /**
   * Registers the versions of the pack that are missing, publishes its skills, grants them to the archetypes, and takes
   * the grants that the pack gave and no longer gives: all in one transaction, with one event. What another applied
   * pack gives as well stays. Repeating it changes nothing and writes no event. Throws `validation-failed` for
   * archetypes that are not in the bundle and for versions to be registered whose names are gone with a key,
   * `skill-not-registered` for retired skills (pointers into the pack), and `hub-not-provisioned`.
   */
  apply(caller: Caller, coworkId: string, request: ApplicationRequest): Promise<Application>
  /** The last application that changed something. Throws `not-found` where there was none. */
  application(tenant: Tenant, coworkId: string): Promise<Application>
}

/**
 * Session-level advisory locks, one bigint each. The upper half spells "orgh", so that they do not collide with locks
 * of other programs in the database.
 */
const prefix = 0x6f726768n << 32n

/** Held while migrating. If several processes start at once, one migrates and the others wait. */
export const migrationLock = String(prefix | 1n)
/** Held while the owner and the database of an embedded server are created. */
export const bootstrapLock = String(prefix | 4n)
/** Held by the transaction that creates a token key. */
export const tokenKeysLock = String(prefix | 5n)

/**
 * The class of locks of two integers, a separate space from locks of one bigint; the second integer is a hash of the
 * tenant. Held by the transaction that changes the rollups of a tenant. Spells "orgr".
 */
export const rollupLockClass = 0x6f726772

/** Held by the transaction that reprices stored events of a tenant (see {@link rollupLockClass}). Spells "orgp". */
export const ratingLockClass = 0x6f726770

/** Held by the transaction that creates a link for mail (see {@link rollupLockClass}). Spells "orgl". */
export const mailedLinkLockClass = 0x6f72676c

/** Held by the transaction that changes the set of administrators (see {@link rollupLockClass}). Spells "orgu". */
export const rolesLockClass = 0x6f726775

/** Held by the transaction that replaces the archetypes of a tenant (see {@link rollupLockClass}). Spells "orga". */
export const archetypesLockClass = 0x6f726761

/** Held by the transaction that configures single sign-on (see {@link rollupLockClass}). Spells "orgs". */
export const ssoLockClass = 0x6f726773

/** Held by the transaction that replaces the prices of a tenant (see {@link rollupLockClass}). Spells "orgo". */
export const pricesLockClass = 0x6f72676f

/**
 * Held by the transaction that places or releases a hold, or changes retention; shared by those that purge or erase
 * records (see {@link rollupLockClass}). Spells "orgk".
 */
export const holdsLockClass = 0x6f72676b

/**
 * Held by the transaction that assigns seals of a tenant their places in its log (see {@link rollupLockClass}). Spells
 * "orgt".
 */
export const logLockClass = 0x6f726774

/** Held by the transaction that erases records of a tenant (see {@link rollupLockClass}). Spells "orge". */
export const erasureLockClass = 0x6f726765

/** Held by the transaction that requests an export (see {@link rollupLockClass}). Spells "orgx". */
export const exportsLockClass = 0x6f726778

/** Held by the transaction that configures SCIM (see {@link rollupLockClass}). Spells "orgi". */
export const scimLockClass = 0x6f726769

/** Held by the transaction that starts or ends a sync of the roster (see {@link rollupLockClass}). Spells "orgy". */
export const rosterSyncsLockClass = 0x6f726779

/**
 * Held by the transaction that creates or changes a connector, or requests a republication (see {@link
 * rollupLockClass}). Spells "orgn".
 */
export const connectorsLockClass = 0x6f72676e

/**
 * Held by the transaction that creates or destroys content keys of a tenant; shared by those that write content, and by
 * `hub.require_content_key` (see {@link rollupLockClass}). Spells "orgc".
 */
export const contentKeysLockClass = 0x6f726763

/** Held by the transaction that changes skills, packs or grants (see {@link rollupLockClass}). Spells "orgg". */
export const skillsLockClass = 0x6f726767

/**
 * Held by the transaction that changes people, groups or archetypes of a directory (see {@link rollupLockClass}).
 * Spells "orgd".
 */
export const directoryLockClass = 0x6f726764

/**
 * Held by the transaction that turns the outbox of a tenant into deliveries (see {@link rollupLockClass}). Spells
 * "orgw".
 */
export const webhooksLockClass = 0x6f726777

/** Held by the transaction that opens and closes alerts of a tenant (see {@link rollupLockClass}). Spells "orgv". */
export const alertsLockClass = 0x6f726776

/** Held by the transaction that changes saved views (see {@link rollupLockClass}). Spells "orgb". */
export const viewsLockClass = 0x6f726762

/** Held by the transaction that creates or changes budgets (see {@link rollupLockClass}). Spells "orgz". */
export const budgetsLockClass = 0x6f72677a

/**
 * Held at the direct address while a start looks for it at the pooler (see {@link rollupLockClass}); the second integer is
 * random. Spells "orgq".
 */
export const sameDatabaseLockClass = 0x6f726771

/**
 * Session-level advisory locks, one bigint each, so that they cannot meet those of other programs in the same
 * database by accident: the upper half spells "orgh".
 */
const prefix = 0x6f726768n << 32n

/** Held while migrating: of several processes that start at once, one migrates and the others wait. */
export const migrationLock = String(prefix | 1n)
/** Held by the one `hub serve` of an embedded data directory, as long as it lives. */
export const serveLock = String(prefix | 2n)
/** Held by whichever process started the embedded server, as long as it lives. */
export const ownerLock = String(prefix | 3n)
/** Held while the owner and the database of an embedded server are made. */
export const bootstrapLock = String(prefix | 4n)
/** Held by the transaction that makes a token key. */
export const tokenKeysLock = String(prefix | 5n)

/**
 * Class of the locks of two integers, which are another space than those of one bigint: the second is a hash of the
 * tenant. Held by the transaction that changes the rollups of a tenant. Spells "orgr".
 */
export const rollupLockClass = 0x6f726772

/** As {@link rollupLockClass}. Held by the transaction that rates stored events of a tenant again. Spells "orgp". */
export const ratingLockClass = 0x6f726770

/** As {@link rollupLockClass}. Held by the transaction that makes a link to be mailed. Spells "orgl". */
export const mailedLinkLockClass = 0x6f72676c

/** As {@link rollupLockClass}. Held by the transaction that changes who is an administrator. Spells "orgu". */
export const rolesLockClass = 0x6f726775

/** As {@link rollupLockClass}. Held by the transaction that replaces the archetypes of a tenant. Spells "orga". */
export const archetypesLockClass = 0x6f726761

/** As {@link rollupLockClass}. Held by the transaction that configures single sign-on. Spells "orgs". */
export const ssoLockClass = 0x6f726773

/** As {@link rollupLockClass}. Held by the transaction that replaces the prices of a tenant. Spells "orgo". */
export const pricesLockClass = 0x6f72676f

/**
 * As {@link rollupLockClass}. Held by the transaction that places or releases a hold, or changes retention; shared by
 * those that purge or erase records. Spells "orgk".
 */
export const holdsLockClass = 0x6f72676b

/** As {@link rollupLockClass}. Held by the transaction that gives seals of a tenant their places in its log. Spells "orgt". */
export const logLockClass = 0x6f726774

/** As {@link rollupLockClass}. Held by the transaction that erases records of a tenant. Spells "orge". */
export const erasureLockClass = 0x6f726765

/** As {@link rollupLockClass}. Held by the transaction that orders an export. Spells "orgx". */
export const exportsLockClass = 0x6f726778

/** As {@link rollupLockClass}. Held by the transaction that configures SCIM. Spells "orgi". */
export const scimLockClass = 0x6f726769

/** As {@link rollupLockClass}. Held by the transaction that begins or ends a sync of the roster. Spells "orgy". */
export const rosterSyncsLockClass = 0x6f726779

/** As {@link rollupLockClass}. Held by the transaction that makes or changes a connector, or orders a republication. Spells "orgn". */
export const connectorsLockClass = 0x6f72676e

/**
 * As {@link rollupLockClass}. Held by the transaction that makes or destroys content keys of a tenant; shared by those
 * that write content, in `hub.require_content_key` too. Spells "orgc".
 */
export const contentKeysLockClass = 0x6f726763

/** As {@link rollupLockClass}. Held by the transaction that changes skills, packs or grants. Spells "orgg". */
export const skillsLockClass = 0x6f726767

/**
 * As {@link rollupLockClass}. Held by the transaction that changes people, groups or archetypes of a directory. Spells
 * "orgd".
 */
export const directoryLockClass = 0x6f726764

/** As {@link rollupLockClass}. Held by the transaction that turns what a tenant has to tell into deliveries. Spells "orgw". */
export const webhooksLockClass = 0x6f726777

/** As {@link rollupLockClass}. Held by the transaction that opens and closes alerts of a tenant. Spells "orgv". */
export const alertsLockClass = 0x6f726776

/** As {@link rollupLockClass}. Held by the transaction that changes saved views. Spells "orgb". */
export const viewsLockClass = 0x6f726762

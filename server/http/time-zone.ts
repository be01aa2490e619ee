/** The error of a text that is no time zone, after its pointer. */
export const notATimeZone = 'must be the name of a time zone in the IANA database, such as Europe/Berlin'

/** Returns whether the text is the name of a time zone of the IANA database, in any case. */
export function isTimeZone(name: string): boolean {
  // Temporal also accepts offsets such as +05:30.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId !== ''
  } catch {
    return false
  }
}

import type { CertificateChecks } from '../../provenance/index.ts'
import type { CheckedCertificate } from './document.ts'

/** The meaning of each check. docs/auditor.md explains what they prove together. */
const checks: Readonly<Record<keyof CertificateChecks, string>> = {
  well_formed: 'it has all members of a certificate, each of its form',
  seal_signed: 'a key of the log signed the seal that it names',
  leaf_in_seal: 'the leaf that is left of the record leads to the root of the seal',
  seal_in_log: 'the seal leads to the root of a signed state of the log',
  events_verified: 'the events of its purge and erasure are what the Hub signed, with keys of the same log',
  events_agree: 'these events state this record and leaf, and agree with the certificate',
}

/** Returns the title: the record and its erasure. */
export function certificateTitle({ recordId, erased }: CheckedCertificate): string {
  const title = `Deletion certificate of ${recordId === undefined ? 'an unnamed record' : `record ${recordId}`}`
  return erased === undefined ? title : `${title} (${erased.recordType}), erased at ${erased.at}`
}

/** Returns one line for each check made. */
export function certificateLines(certificate: CheckedCertificate): string[] {
  return Object.entries(checks).map(
    ([name, text]) => `${certificate.checks[name as keyof CertificateChecks] ? 'good' : 'FAILED'}: ${text}`,
  )
}

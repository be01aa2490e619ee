import type { VerificationReport } from '../../provenance/export/export-verifier.ts'
import type { VerificationFailure } from '../../provenance/findings.ts'
import type { BundleChecks, CertificateChecks } from '../../provenance/index.ts'
import { counted } from '../output.ts'
import type { CheckedBundle, CheckedCertificate } from './document.ts'
import { packLines, packTitle } from './pack-text.ts'
import { completenessUnknown } from './trust-summary.ts'
import type { FileVerification } from './verify-file.ts'

/** Maximum number of printed failures. */
const listedMax = 100

/** Returns the report for people: the verdict, its basis, the scope of the checks, and the failures. */
export function reportText(verification: FileVerification): string {
  const { file, report, trust } = verification
  const { certificate, bundle, pack } = verification.proof
  return [
    `${file}: ${verdict(verification)}`,
    ...(certificate ? [certificateTitle(certificate)] : bundle ? [bundleTitle(bundle)] : pack ? [packTitle(pack)] : []),
    `Trust basis: ${trust}.`,
    'Checked:',
    ...(certificate
      ? checkLines(certificateChecks, certificate.checks)
      : bundle
        ? [...checkLines(bundleChecks, bundle.checks), ...earlierLines(bundle)]
        : pack
          ? packLines(pack)
          : checkedLines(verification)
    ).map((line) => `  ${line}`),
    ...(bundle ? ['Not proved: is_purged, the times of the keys, and how_to_verify.'] : []),
    ...failureLines(report),
  ].join('\n')
}

function verdict({ outcome }: FileVerification): string {
  if (outcome === 'verified') return 'verified'
  return outcome === 'failed' ? 'NOT verified' : 'NOT verified, because its manifest cannot be read'
}

function checkedLines({ format, manifest, report }: FileVerification): string[] {
  const { checked, failed, signatures } = report
  const prepared = manifest?.prepared
  const hasProvenance = prepared === undefined || prepared.seals !== undefined
  const what = format === 'json' ? '' : ` (${format.toUpperCase()})`
  const lines = hasProvenance
    ? [
        `${counted(checked, 'record')}${what}, ${failed} failed: hash, place in the seal and cosignature of each`,
        counted(signatures, 'signature of a seal', 'signatures of seals'),
      ]
    : [`${counted(checked, 'row')}${what} without provenance, of which nothing can be verified one by one`]
  if (prepared === undefined || report.manifest === undefined) {
    return format === 'json' ? lines : [...lines, completenessUnknown(manifest !== undefined)]
  }
  const { head } = prepared
  const { isSigned, isInLog, leftOut, file } = report.manifest
  const { from, to, tree_size: size, name } = head.log
  const fileText = {
    matches: `${head.file.size_bytes} bytes and SHA-256 as the manifest says`,
    differs: 'not the file that the manifest is about',
    'not-compared': 'size and SHA-256 not compared, because it was unpacked since',
  }[file]
  lines.push(`file: ${fileText}`, `manifest ${manifest!.place}: ${isSigned ? 'signed' : 'NOT as it was signed'}`)
  if (!hasProvenance) return [...lines, 'completeness: as the signed manifest says; rows cannot be placed in the log']
  lines.push(
    `log ${name}: entries ${from} to ${to} of ${size} ${isInLog ? 'lead' : 'do NOT lead'} to the root of the signed checkpoint`,
  )
  const rows = `${counted(head.counts.exported, 'record')} in the file, ${leftOut ?? 'unknown'} left out`
  const isComplete = report.missing === 0 && failed === 0 && isInLog && isSigned
  lines.push(`completeness: ${isComplete ? 'every leaf of these entries is accounted for' : 'NOT shown'}; ${rows}`)
  return lines
}

function failureLines({ failures, failureCount, missing }: VerificationReport): string[] {
  if (failureCount === 0) return []
  const listed = failures.slice(0, listedMax).map((failure) => `  ${failureText(failure)}`)
  const more = failureCount - listed.length
  return [
    `Wrong: ${counted(failureCount, 'finding')}${missing > 0 ? `, ${counted(missing, 'record')} missing` : ''}`,
    ...listed,
    ...(more > 0
      ? [`  … and ${more} more; --json lists ${failures.length < failureCount ? 'the first of them' : 'all'}`]
      : []),
  ]
}

function failureText({ line, record_id, reason }: VerificationFailure): string {
  const where = line === null ? '' : `line ${line}${record_id === null ? '' : ` record ${record_id}`}: `
  return `${where}${reason}`
}

/** The meaning of each check. docs/verification.md explains what they prove together. */
const certificateChecks: Readonly<Record<keyof CertificateChecks, string>> = {
  well_formed: 'it has all members of a certificate, each of its form',
  seal_signed: 'a key of the log signed the seal that it names',
  leaf_in_seal: 'the leaf that is left of the record leads to the root of the seal',
  seal_in_log: 'the seal leads to the root of a signed state of the log',
  events_verified: 'the events of its purge and erasure are what the Hub signed, with keys of the same log',
  events_agree: 'these events state this record and leaf, and agree with the certificate',
}

/** Returns the title: the record and its erasure. */
function certificateTitle({ recordId, erased }: CheckedCertificate): string {
  const title = `Deletion certificate of ${recordId === undefined ? 'an unnamed record' : `record ${recordId}`}`
  return erased === undefined ? title : `${title} (${erased.recordType}), erased at ${erased.at}`
}

/** The meaning of each check. docs/verification.md explains what they prove together. */
const bundleChecks: Readonly<Record<keyof BundleChecks, string>> = {
  well_formed: 'it has all members of a proof bundle, each of its form, and no other',
  keys_linked: 'its keys are of one log, and each was introduced by the one before',
  provenance_hash_matches: 'the record has the hash',
  provenance_cosign_valid: 'a key of the log signed the seal that the cosignature leads to',
  schema_version_supported: 'the version of the record is known',
  seal_matches: 'the seal is the one that hash and cosignature give',
  seal_in_log: 'the seal leads to the root of the checkpoint',
  checkpoint_signed: 'a key of the log signed the checkpoint',
}

function earlierLines({ earlier }: CheckedBundle): string[] {
  if (earlier === undefined) return []
  const state = `${counted(earlier.tree_size, 'leaf', 'leaves')} and the root ${earlier.root_hash}`
  return [`the checkpoint continues the log of ${state}: compare them with the checkpoint that you kept`]
}

/** Returns the title: the record and its sealing. */
function bundleTitle({ recordId, sealed }: CheckedBundle): string {
  const title = `Proof bundle of ${recordId === undefined ? 'an unnamed record' : `record ${recordId}`}`
  return sealed === undefined ? title : `${title} (${sealed.recordType}), created at ${sealed.at}`
}

/** Returns one line for each check made. */
function checkLines<Check extends string>(
  texts: Readonly<Record<Check, string>>,
  checks: Readonly<Record<Check, boolean>>,
): string[] {
  return Object.entries<string>(texts).map(([name, text]) => `${checks[name as Check] ? 'good' : 'FAILED'}: ${text}`)
}

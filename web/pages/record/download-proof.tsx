import { Button } from '@mantine/core'
import { IconCertificate } from '@tabler/icons-react'
import { useState } from 'react'
import { hub } from '../../api/api-client.ts'
import { notifyDone, notifyProblem } from '../../components/notify.ts'
import { saveFile } from '../../ui/save-file.ts'

/** Saves the proof bundle of a record as a file for `hub verify`. */
export function DownloadProof({ recordId }: { recordId: string }) {
  const [isLoading, setLoading] = useState(false)

  async function download() {
    setLoading(true)
    try {
      const params = { path: { record_id: recordId } }
      // As text: the file has the bytes of the response.
      const { data } = await hub.GET('/api/v1/hub/records/{record_id}/proof-bundle', { params, parseAs: 'text' })
      const name = `proof-${recordId}.json`
      saveFile(name, new Blob([data!], { type: 'application/json' }))
      notifyDone(`Saved ${name}. Check it anywhere with: hub verify ${name}`)
    } catch (error) {
      notifyProblem(error, 'Could not download the proof')
    } finally {
      setLoading(false)
    }
  }

  return (
    <Button
      size="xs"
      variant="default"
      loading={isLoading}
      leftSection={<IconCertificate size={15} aria-hidden />}
      onClick={() => void download()}
    >
      Download proof
    </Button>
  )
}

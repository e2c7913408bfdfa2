//! Runs laminar-storage 0.18.5 itself on a local directory, and prints what it says as JSON.
//!
//! `laminar-probe ROOT PREFIX COMMAND [ARGUMENT]`, where ROOT is a directory and PREFIX is empty or
//! ends with "/". Holdfast's tests compare the answers with their own.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use laminar_storage::checkpoint::checkpointer::{Checkpointer, ObjectStoreCheckpointer};
use laminar_storage::checkpoint_manifest::{InFlightRecord, SinkCommitStatus};
use laminar_storage::{
    decode_batch, CheckpointBatcher, CheckpointId, CheckpointManifest, CheckpointManifestV2,
    CheckpointPaths, CheckpointStore, ConnectorCheckpoint, FileSystemCheckpointStore,
    ObjectStoreCheckpointStore, OperatorCheckpoint, OperatorSnapshotEntry, SourceOffsetEntry,
};
use object_store::local::LocalFileSystem;
use object_store::ObjectStore;
use serde_json::{json, Value};

type Outcome = Result<Value, Box<dyn Error>>;

const SIDECAR: &[u8] = b"sidecar bytes of the crate";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, prefix, command, rest @ ..] = arguments.as_slice() else {
        return Err("usage: laminar-probe ROOT PREFIX COMMAND [ARGUMENT]".into());
    };
    let files: Arc<dyn ObjectStore> = Arc::new(LocalFileSystem::new_with_prefix(root)?);
    let store = ObjectStoreCheckpointStore::new(files.clone(), prefix.clone(), 0)?;
    let argument = rest.first().map_or("", String::as_str);
    let answer = match command.as_str() {
        "list" => json!({"ids": store.list_ids()?, "pairs": store.list()?}),
        "validate" => validate(&store)?,
        "recover" => recover(&store)?,
        "latest" => json!(store.load_latest()?),
        "load" => json!(store.load_by_id(argument.parse()?)?),
        "state" => json!(store.load_state_data(argument.parse()?)?),
        "orphans" => json!(store.cleanup_orphans()?),
        "save" => save(&store)?,
        "update" => update(&store, argument.parse()?)?,
        "save-flat" => save(&FileSystemCheckpointStore::new(
            Path::new(root).join(prefix),
            100,
        ))?,
        "batch" => batch(files, prefix, argument.parse()?)?,
        "decode" => json!(decode_batch(&std::fs::read(argument)?)?),
        "save-distributed" => save_distributed(files, prefix)?,
        "parse-distributed" => parse_distributed(argument)?,
        other => return Err(format!("unknown command {other}").into()),
    };
    println!("{answer}");
    Ok(())
}

fn validate(store: &ObjectStoreCheckpointStore) -> Outcome {
    let mut found = Vec::new();
    for id in store.list_ids()? {
        let result = store.validate_checkpoint(id)?;
        found.push(json!({"id": id, "valid": result.valid, "issues": result.issues}));
    }
    Ok(json!(found))
}

fn recover(store: &ObjectStoreCheckpointStore) -> Outcome {
    let report = store.recover_latest_validated()?;
    Ok(json!({
        "chosen_id": report.chosen_id,
        "skipped": report.skipped,
        "examined": report.examined,
    }))
}

/// One checkpoint with all 22 fields and a sidecar, one that is nearly empty, one of seven digits.
fn save(store: &dyn CheckpointStore) -> Outcome {
    let full = full_manifest(1);
    store.save_with_state(&full, Some(SIDECAR))?;
    store.save(&CheckpointManifest::new(2, 2))?;
    store.save(&CheckpointManifest::new(1_000_000, 3))?;
    let saved: Result<Vec<_>, _> = [1, 2, 1_000_000]
        .into_iter()
        .map(|id| store.load_by_id(id))
        .collect();
    Ok(json!(saved?))
}

fn update(store: &ObjectStoreCheckpointStore, id: u64) -> Outcome {
    let mut manifest = store.load_by_id(id)?.ok_or("no such checkpoint")?;
    manifest
        .sink_commit_statuses
        .insert("sink".into(), SinkCommitStatus::Committed);
    store.update_manifest(&manifest)?;
    Ok(json!(manifest))
}

fn full_manifest(id: u64) -> CheckpointManifest {
    let offsets = HashMap::from([("0".to_string(), u64::MAX.to_string())]);
    let mut connector = ConnectorCheckpoint::with_offsets(u64::MAX, offsets);
    connector
        .metadata
        .insert("topic".into(), "größe \"x\"".into());
    let mut manifest = CheckpointManifest::new(id, u64::MAX);
    manifest
        .source_offsets
        .insert("source".into(), connector.clone());
    manifest.sink_epochs.insert("sink".into(), u64::MAX);
    manifest.sink_epochs.insert("other".into(), 7);
    manifest.sink_commit_statuses = HashMap::from([
        ("sink".into(), SinkCommitStatus::Pending),
        ("other".into(), SinkCommitStatus::Failed("it\nbroke".into())),
    ]);
    manifest.table_offsets.insert("table".into(), connector);
    manifest.operator_states = HashMap::from([
        (
            "inline".into(),
            OperatorCheckpoint::inline(b"\x00\xffstate"),
        ),
        ("empty".into(), OperatorCheckpoint::inline(b"")),
        ("external".into(), OperatorCheckpoint::external(2, 5)),
    ]);
    manifest.table_store_checkpoint_path = Some("tables/1".into());
    manifest.wal_position = u64::MAX;
    manifest.per_core_wal_positions = vec![0, u64::MAX];
    manifest.watermark = Some(i64::MIN);
    manifest.source_watermarks.insert("source".into(), i64::MAX);
    manifest.source_names = vec!["source".into()];
    manifest.sink_names = vec!["other".into(), "sink".into()];
    manifest.pipeline_hash = Some(u64::MAX);
    let record = InFlightRecord {
        input_id: 1,
        data_b64: "AAE=".into(),
    };
    manifest.inflight_data.insert("inline".into(), vec![record]);
    manifest.size_bytes = u64::MAX;
    manifest.is_incremental = false;
    manifest.parent_id = Some(u64::MAX);
    manifest
}

fn batch(files: Arc<dyn ObjectStore>, prefix: &str, epoch: u64) -> Outcome {
    let entries = vec![
        ("a".to_string(), b"one".to_vec()),
        ("a".to_string(), b"two".to_vec()),
        ("schlüssel/0".to_string(), vec![]),
        ("zeros".to_string(), vec![0; 3_000]),
    ];
    let mut batcher = CheckpointBatcher::new(files, prefix.to_string(), None)?;
    for (key, data) in &entries {
        batcher.add(key.clone(), data.clone());
    }
    batcher.flush(epoch)?;
    Ok(json!(entries))
}

fn save_distributed(files: Arc<dyn ObjectStore>, prefix: &str) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let paths = CheckpointPaths::new(&format!("{prefix}checkpoints/"));
    let checkpointer = ObjectStoreCheckpointer::new(files, paths, 4);
    let mut manifest = CheckpointManifestV2::new(CheckpointId::now(), u64::MAX);
    manifest.watermark = Some(i64::MIN);
    manifest.parent_id = Some(CheckpointId::now());
    let offsets = HashMap::from([("partition-0".to_string(), "12".to_string())]);
    let source = SourceOffsetEntry {
        source_type: "kafka".into(),
        offsets,
        epoch: u64::MAX,
    };
    manifest.source_offsets.insert("trades".into(), source);
    runtime.block_on(async {
        let parts = (0..3).map(|n| ("agg".to_string(), n, n == 2, vec![n as u8; 9].into()));
        let saved = checkpointer
            .save_partitions_concurrent(&manifest.checkpoint_id, parts.collect())
            .await?;
        let partitions = saved.into_iter().map(|(_, entry)| entry).collect();
        let operator = OperatorSnapshotEntry {
            partitions,
            total_bytes: 27,
        };
        manifest.operators.insert("agg".into(), operator);
        manifest.total_size_bytes = 27;
        checkpointer.save_manifest(&manifest).await?;
        checkpointer.update_latest(&manifest.checkpoint_id).await?;
        Ok::<_, Box<dyn Error>>(json!(manifest))
    })
}

fn parse_distributed(path: &str) -> Outcome {
    let manifest: CheckpointManifestV2 = serde_json::from_slice(&std::fs::read(path)?)?;
    Ok(json!(manifest))
}

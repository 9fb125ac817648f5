"""What many would write: FastAPI routes with pydantic models and a scikit-learn model behind them."""

import hashlib
import os
import tempfile
from typing import Annotated, Any

import joblib
import numpy as np
from fastapi import FastAPI, File, UploadFile
from pydantic import BaseModel, create_model

app = FastAPI()
model = joblib.load(os.environ["LOGISTIC"])
COLUMNS = tuple(f"c{column:02d}" for column in range(30))
_FIELDS: dict[str, Any] = dict.fromkeys(COLUMNS, (float, ...))
Row: Any = create_model("Row", **_FIELDS)


class Batch(BaseModel):
    """Many rows."""

    rows: list[Row]


@app.get("/ready")
async def ready() -> dict[str, bool]:
    """Say that the model is loaded."""
    return {"ready": True}


@app.post("/predict")
async def predict(row: Row) -> dict[str, float]:
    """Score one row."""
    return {"probability": float(model.predict_proba(_matrix([row]))[0, 1])}


@app.post("/batch")
async def batch(batch: Batch) -> dict[str, list[float]]:
    """Score many rows, on the event loop."""
    return {"probabilities": model.predict_proba(_matrix(batch.rows))[:, 1].tolist()}


@app.post("/upload")
def upload(file: Annotated[UploadFile, File()]) -> dict[str, str]:
    """Copy a file that the framework has spooled, and hash it."""
    digest = hashlib.sha256()
    with tempfile.TemporaryFile() as target:
        while chunk := file.file.read(1 << 20):
            target.write(chunk)
            digest.update(chunk)
    return {"sha256": digest.hexdigest()}


def _matrix(rows: list[Any]) -> Any:
    return np.array([[getattr(row, column) for column in COLUMNS] for row in rows], dtype=np.float32)

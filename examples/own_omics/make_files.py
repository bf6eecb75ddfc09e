"""Write four files of one study, each as another program writes it."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd

PATIENTS, VISITS = 60, 2


def study(seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return the tables of a study: two visits a patient; genes and proteins tell who responds."""
    rng = np.random.default_rng(seed)
    patient = np.repeat([f"PT{k:02d}" for k in range(1, PATIENTS + 1)], VISITS)
    samples = [f"{name}.{k % VISITS + 1}" for k, name in enumerate(patient)]
    responds = np.repeat(rng.integers(0, 2, PATIENTS), VISITS)
    n = len(samples)

    def measured(n_features: int, effect: float, letter: str) -> pd.DataFrame:
        of_patient = np.repeat(rng.standard_normal((PATIENTS, n_features)), VISITS, axis=0)
        values = of_patient + 0.5 * rng.standard_normal((n, n_features))
        values[:, : n_features // 4] += effect * responds[:, None]
        names = [f"{letter}{k}" for k in range(1, n_features + 1)]
        return pd.DataFrame(values.round(3), index=samples, columns=names)

    response = pd.Series(np.where(responds, "yes", "no"), dtype=object)
    response[[5, 40, 77]] = "NA"  # not known
    clinic = pd.DataFrame(
        {
            "sample": samples,
            "patient": patient,
            "crp": rng.gamma(2.0, 4.0, n).round(1),
            "response": response,
        }
    )
    return {
        "expression": measured(40, 0.7, "gene"),
        "methylation": measured(30, 0.0, "cg"),
        "proteins": measured(12, 0.9, "prot"),
        "clinic": clinic,
    }


def write(seed: int = 0) -> None:
    """Write the files to the working directory."""
    tables = study(seed)
    shuffled = np.random.default_rng(seed).permutation(len(tables["clinic"]))
    # As R's write.table does: genes in the rows, and no name above their names.
    expression = tables["expression"].iloc[shuffled].T
    with open("expression.txt", "w", encoding="utf-8") as file:
        file.write("\t".join(f'"{name}"' for name in expression.columns) + "\n")
        expression.to_csv(file, sep="\t", header=False, quoting=csv.QUOTE_NONNUMERIC)
    tables["methylation"].to_csv("methylation.csv")  # with the index of pandas
    tables["proteins"].iloc[::-1].rename_axis("sample").to_excel("proteins.xlsx")
    tables["clinic"].to_csv("clinic.csv", sep=";", decimal=",", index=False)  # as Excel in Europe


if __name__ == "__main__":
    write()
    print("expression.txt methylation.csv proteins.xlsx clinic.csv")

#include "dense.h"

#include <math.h>

void hx_dense_invert(int n, double *a, double *inverse)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(a[i * n + i]) : a[i * n + j] / a[j * n + j];
        }
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < n; i++) {
            double sum = i == c;
            for (int k = 0; k < i; k++) sum -= a[i * n + k] * inverse[k * n + c];
            inverse[i * n + c] = sum / a[i * n + i];
        }
        for (int i = n - 1; i >= 0; i--) {
            double sum = inverse[i * n + c];
            for (int k = i + 1; k < n; k++) sum -= a[k * n + i] * inverse[k * n + c];
            inverse[i * n + c] = sum / a[i * n + i];
        }
    }
}
